env PATH="$PWD/doctor/slow" RIDGE_CUDA_LIBRARY=/nonexistent RIDGE_DOCTOR_ROOT=/nonexistent "$(command -v ridge)" doctor --wait 1 | sed -n "/nvcc/p"
