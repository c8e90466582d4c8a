env PATH=/nonexistent RIDGE_CUDA_LIBRARY=/nonexistent RIDGE_DOCTOR_ROOT=/nonexistent "$(command -v ridge)" doctor --wait 60 --json
