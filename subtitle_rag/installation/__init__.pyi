from . import extras as extras
from .distributions import (
    EXTRACTOR as EXTRACTOR,
    PackageStatus as PackageStatus,
    missing_packages as missing_packages,
    version_report as version_report,
    yt_dlp_age as yt_dlp_age,
)
from .environment import current_environment as current_environment
from .extras import (
    EVAL as EVAL,
    EXTRAS as EXTRAS,
    LISTEN as LISTEN,
    MCP as MCP,
    MEANING as MEANING,
    NEURAL as NEURAL,
    PACKAGE as PACKAGE,
    PICTURES as PICTURES,
    SERVER as SERVER,
    WEB as WEB,
    YOUTUBE as YOUTUBE,
    Extra as Extra,
    has_gpu as has_gpu,
)
from .install_command import (
    add_refusal as add_refusal,
    install_steps as install_steps,
    missing_extra as missing_extra,
    require_extra as require_extra,
    upgrade_line as upgrade_line,
)
from .package_installer import PackageInstaller as PackageInstaller
