# In a kernel recipe or its .bbappend: inherit btflite-kernel
#
# Kernel recipes set PAHOLE=false, so Kconfig silently drops CONFIG_DEBUG_INFO_BTF. This class takes
# that back, names btflite in its place, and has it there before the configuration is made.

DEPENDS += "btflite-native"
do_configure[depends] += "btflite-native:do_populate_sysroot"
do_kernel_configme[depends] += "btflite-native:do_populate_sysroot"

BTFLITE_PAHOLE = "PAHOLE=${STAGING_BINDIR_NATIVE}/btflite"
EXTRA_OEMAKE:remove = "PAHOLE=false"
EXTRA_OEMAKE:append = " ${BTFLITE_PAHOLE}"
KCONFIG_CONFIG_COMMAND:remove = "PAHOLE=false"
KCONFIG_CONFIG_COMMAND:append = " ${BTFLITE_PAHOLE}"
