ridge timeline --device 7 timeline/devices.json
