"""Detection of a graphics processor by files alone: nothing is imported or started."""

import sys
from pathlib import Path

GPU_FILES = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd", "/proc/driver/nvidia/version")
"""Files of the drivers of NVIDIA, of WSL, and of AMD."""


def wants_cpu_build() -> bool:
    """Whether PyTorch's usual build would bring CUDA in vain: on Linux without a GPU's driver."""
    return sys.platform == "linux" and not any(Path(file).exists() for file in GPU_FILES)
