from .blocks import text_lines as text_lines
from .man_page import render_man_page as render_man_page
from .topics import TOPICS as TOPICS, find_topic as find_topic
