ridge doctor --require gpu,tourch
