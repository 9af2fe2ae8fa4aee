from . import extras as extras
from .advice import instruction as instruction, upgrade_line as upgrade_line
from .aging import EXTRACTOR as EXTRACTOR, extractor_age as extractor_age
from .distributions import PackageStatus as PackageStatus, version_report as version_report
from .environment import current as current
from .extras import (
    EVAL as EVAL,
    EXTRAS as EXTRAS,
    MCP as MCP,
    NEURAL as NEURAL,
    PACKAGE as PACKAGE,
    PICTURES as PICTURES,
    SERVER as SERVER,
    WEB as WEB,
)
from .missing import missing_extra as missing_extra, require as require
from .package_installer import PackageInstaller as PackageInstaller
from .steps import step_text as step_text
