################################################################################
#
# btflite
#
################################################################################

BTFLITE_VERSION = @VERSION@
BTFLITE_SITE = @URL@
BTFLITE_HOST_SYSTEM = linux-$(if $(filter aarch64,$(HOSTARCH)),arm64,amd64)
BTFLITE_SOURCE = btflite-$(BTFLITE_VERSION)-$(BTFLITE_HOST_SYSTEM).tar.gz
BTFLITE_LICENSE = MIT
BTFLITE_LICENSE_FILES = share/doc/btflite/LICENSE share/doc/btflite/THIRD-PARTY-LICENCES

# The archive has the static program: there is nothing to build.
define HOST_BTFLITE_INSTALL_CMDS
	$(INSTALL) -D -m 0755 $(@D)/bin/btflite $(HOST_DIR)/bin/btflite
	ln -sf btflite $(HOST_DIR)/bin/pahole
endef

$(eval $(host-generic-package))

# linux.mk wants host-pahole for CONFIG_DEBUG_INFO_BTF. With btflite it is not
# needed: it is built before the kernel is configured, and the check is empty.
ifeq ($(BR2_PACKAGE_HOST_BTFLITE)$(BR2_LINUX_KERNEL),yy)
$(LINUX_DIR)/$(LINUX_KCONFIG_STAMP_DOTCONFIG): | host-btflite
define LINUX_FIXUP_CONFIG_PAHOLE_CHECK
endef
endif
