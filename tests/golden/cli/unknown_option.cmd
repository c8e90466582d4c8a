ridge --hlep
