/* Preloaded before PyTorch: MKL calls these two functions to detect an Intel processor, and uses no AVX-512 on others.
   Older versions had MKL_DEBUG_CPU_TYPE for this; it was removed. */
int mkl_serv_intel_cpu(void) { return 1; }
int mkl_serv_intel_cpu_true(void) { return 1; }
