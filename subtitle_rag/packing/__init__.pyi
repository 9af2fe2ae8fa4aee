from .pack_file import Manifest as Manifest
from .pack_reader import PackReader as PackReader
from .packer import Packed as Packed, Packer as Packer, PackProgress as PackProgress, PackSelection as PackSelection
from .unpacker import Unpacker as Unpacker, UnpackProgress as UnpackProgress, UnpackReport as UnpackReport
