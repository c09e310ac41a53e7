include $(sort $(wildcard $(BR2_EXTERNAL_BTFLITE_PATH)/package/*/*.mk))
