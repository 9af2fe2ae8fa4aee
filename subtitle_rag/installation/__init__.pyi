from . import extras as extras
from .extractor import EXTRACTOR as EXTRACTOR, yt_dlp_age as yt_dlp_age
from .extras import (
    ANKI as ANKI,
    EVAL as EVAL,
    EXTRAS as EXTRAS,
    LISTEN as LISTEN,
    MCP as MCP,
    MEANING as MEANING,
    NEURAL as NEURAL,
    PACKAGE as PACKAGE,
    SERVER as SERVER,
    YOUTUBE as YOUTUBE,
    Extra as Extra,
    missing_packages as missing_packages,
)
from .package_installer import (
    install_packages as install_packages,
    install_refusal as install_refusal,
    install_steps as install_steps,
    missing_extra as missing_extra,
    require_extra as require_extra,
    upgrade_line as upgrade_line,
)
