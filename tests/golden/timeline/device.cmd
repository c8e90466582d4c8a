ridge timeline --device 0 timeline/devices.json
