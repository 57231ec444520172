/* Preloaded before PyTorch: MKL asks these two functions whether the processor is one of Intel's, and on those of other
   makers it has no AVX-512. MKL_DEBUG_CPU_TYPE, which once did the same, is gone. */
int mkl_serv_intel_cpu(void) { return 1; }
int mkl_serv_intel_cpu_true(void) { return 1; }
