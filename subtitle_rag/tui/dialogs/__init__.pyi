from .confirm_screen import ConfirmScreen as ConfirmScreen
from .copies_screen import CopiesScreen as CopiesScreen
from .export_screen import ExportScreen as ExportScreen
from .filter_screen import FilterScreen as FilterScreen
from .install_screen import InstallScreen as InstallScreen
from .mark_screen import MarkScreen as MarkScreen
from .player_screen import PlayerScreen as PlayerScreen
from .scene_menu import SceneMenu as SceneMenu
from .setting_dialog import SettingDialog as SettingDialog
from .text_pages import ExplainScreen as ExplainScreen, HelpScreen as HelpScreen
