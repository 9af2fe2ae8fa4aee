from .blocks import text_lines as text_lines
from .topics import TOPICS as TOPICS, find_topic as find_topic
