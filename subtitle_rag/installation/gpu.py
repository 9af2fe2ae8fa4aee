"""Whether a graphics processor is here, as far as files tell: nothing is imported or started for that."""

import sys
from pathlib import Path

GPU_FILES = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd", "/proc/driver/nvidia/version")
"""Of drivers of NVIDIA, of Windows' GPUs as WSL shows them, and of AMD."""


def wants_cpu_build() -> bool:
    """Whether PyTorch's usual build would bring CUDA for nothing: on Linux, where no GPU's driver is."""
    return sys.platform == "linux" and not any(Path(file).exists() for file in GPU_FILES)
