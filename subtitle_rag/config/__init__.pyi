from .config_file import (
    Mistake as Mistake,
    bad_config as bad_config,
    checked_value as checked_value,
    did_you_mean as did_you_mean,
    mistake_in as mistake_in,
    nearest as nearest,
    read_regular as read_regular,
)
from .origins import EffectiveSetting as EffectiveSetting, effective_settings as effective_settings
from .settings import (
    HOME_VARIABLE as HOME_VARIABLE,
    SECTIONS as SECTIONS,
    LlmSettings as LlmSettings,
    LoadedConfig as LoadedConfig,
    ModelSettings as ModelSettings,
    Paths as Paths,
    QdrantSettings as QdrantSettings,
    Settings as Settings,
    YoutubeSettings as YoutubeSettings,
    about as about,
    about_field as about_field,
    host_origin as host_origin,
    hosts_of_environment as hosts_of_environment,
    load as load,
    read as read,
    read_again as read_again,
)
from .template import (
    change_setting as change_setting,
    config_template as config_template,
    write_new as write_new,
    write_setting as write_setting,
    written_value as written_value,
)
