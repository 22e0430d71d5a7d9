// Package mqtt hands events to an MQTT broker, version 5, and shows the cameras' present state
// there, so that Home Assistant finds them by itself. It is a sink (uplink/delivery): it reads the
// journal at its own pace. Nothing is taken from the broker but wishes to arm and disarm, where
// Options allow it.
//
// # Topics
//
// All messages go out with quality of service 1. PREFIX is vmsbridge/BRIDGE unless the
// configuration says otherwise.
//
//	PREFIX/status                      online, or offline (also by the broker, when the bridge is gone) retained
//	PREFIX/CAMERA/motion               ON while anything moves, else OFF                            retained
//	PREFIX/CAMERA/motion/REGION        the same for a region                                        retained
//	PREFIX/CAMERA/line/LINE            {"event_type": "a-to-b"} for each crossing that is new       not retained
//	PREFIX/CAMERA/intrusion/AREA       ON while something is in the area                            retained
//	PREFIX/CAMERA/loitering/AREA       ON while something has been in the area for too long         retained
//	PREFIX/CAMERA/tamper               ON while the view is covered, blinded, turned away …         retained
//	PREFIX/CAMERA/connectivity         ON while the camera is connected                             retained
//	PREFIX/armed                       ON while motion makes events before any of the cameras       retained
//	PREFIX/CAMERA/armed                the same of a camera                                         retained
//	PREFIX/armed/set, PREFIX/CAMERA/armed/set   ON or OFF, not retained, arms or disarms            subscribed to
//	PREFIX/events                      each event as JSON, as the service gets it                   not retained
//	homeassistant/switch/…             the same for what arms                                       retained
//	homeassistant/binary_sensor/…      what Home Assistant is to know of each of these              retained
//
// # Which forms of an event are published
//
// On PREFIX/events each event arrives at least once, in its last form, and in the order of the
// bridge; one that begins while the broker answers arrives when it begins (endTimestamp null) and
// again, with the same id, when it ends. What happened while the broker was away arrives once,
// ended.
//
// The state topics hold the present: they are set anew at each connection, so that a span that
// ended meanwhile leaves no ON behind. A span that began and ended within the last half minute is
// shown ON and then OFF, however late it is read; an older one that has ended is not shown at all,
// since an automation that turns on a light an hour late is worse than none.
//
// # The library
//
// Eclipse Paho's client of version 5, which brokers speak since 2019, behind a small session.
// Reconnecting, and what to send again, is uplink/delivery's, because what was acknowledged must be
// noted in the journal and not in a client's memory.
package mqtt
