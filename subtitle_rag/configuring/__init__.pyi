from .origins import EffectiveSetting as EffectiveSetting, effective_settings as effective_settings
from .schema import settings_schema as settings_schema
from .template import (
    EXAMPLE_PLAYER as EXAMPLE_PLAYER,
    config_template as config_template,
    to_toml as to_toml,
    write_new as write_new,
    write_setting as write_setting,
)
