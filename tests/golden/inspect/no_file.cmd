ridge inspect
