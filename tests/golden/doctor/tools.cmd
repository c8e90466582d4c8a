env PATH="$PWD/doctor/machine/path" RIDGE_CUDA_LIBRARY=/nonexistent RIDGE_DOCTOR_ROOT=doctor/machine "$(command -v ridge)" doctor --wait 60
