"""Can the spans of a self-explaining model be believed? Its levers and rivals, judged as post-hoc methods are."""
