// A shared library that is not a PJRT plugin.
int hum_not_a_plugin(void) { return 1; }
