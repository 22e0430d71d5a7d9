package scene

import (
	"slices"

	"vmsbridge/scripts/lab/scene/plate"
)

// part is what a scene's name may hold.
type part struct {
	name, says string
	add        func(s *Scene)
	outdoors   bool // is drawn outdoors if no place is named
	night      bool // is drawn at night
	doors      bool // is drawn where there is a door
}

// parts are all there are, in the order in which they are explained.
func parts() []part {
	all := []part{
		{name: "person", says: "two people walk through an office, at 4 s to 12 s and 18 s to 26 s",
			add: (*Scene).person},
		{name: "quiet", says: "nothing moves"},
		{name: "light-switch", says: "the light goes off and on", add: (*Scene).lightSwitch},
		{name: "walker", says: "someone walks through: clothes, size, way and time by the seed", add: (*Scene).walkers},
		{name: "door", says: "a door opens and someone steps out (office, warehouse, yard, street)", add: (*Scene).door,
			doors: true},
		{name: "nearing", says: "people walk up to the camera, look into it, and leave", add: (*Scene).nearing},
		{name: "crowd", says: "several people at once, some of them close", add: (*Scene).crowd},
		{name: "crawler", says: "someone crawls slowly", add: (*Scene).crawler},
		{name: "far", says: "someone walks far away, 0.1 % of the picture", add: (*Scene).far, outdoors: true},
		{name: "car", says: "a car drives past, to be seen for 3 pictures at 10 a second", add: (*Scene).passing,
			outdoors: true},
		{name: "faint", says: "someone 8 grey levels from the background walks through", add: (*Scene).faint},
		{name: "entry", says: "the light goes on as someone enters", add: (*Scene).entry},
		{name: "dimmer", says: "lamps warm up and the exposure follows within seconds", add: (*Scene).dimmer},
		{name: "infrared", says: "the camera changes between day and infrared night", add: (*Scene).infrared},
		{name: "clouds", says: "shadows of clouds pass", add: (*Scene).clouds, outdoors: true},
		{name: "headlights", says: "beams of cars sweep over walls and ground in the dark", add: (*Scene).headlights,
			night: true},
		{name: "rain", says: "streaks of rain, splashes, drops on the lens", add: (*Scene).rain, outdoors: true},
		{name: "snow", says: "snow falls", add: (*Scene).snow, outdoors: true},
		{name: "insects", says: "insects fly before an infrared lamp", add: (*Scene).insects, night: true},
		{name: "clock", says: "a clock and a name burnt into the picture", add: (*Scene).clock},
		{name: "keyframes", says: "a low bit rate that pulses with each keyframe", add: (*Scene).keyframes},
		{name: "night", says: "the dark, with noise and noise reduction", add: (*Scene).night, night: true},
		{name: "tree", says: "a tree sways in gusts of wind", add: (*Scene).tree, outdoors: true},
		{name: "flag", says: "a flag flaps", add: (*Scene).flag, outdoors: true},
		{name: "water", says: "water glitters and ripples", add: (*Scene).water, outdoors: true},
		{name: "shake", says: "wind shakes the camera by a pixel or two", add: (*Scene).shake, outdoors: true},
		{name: "flicker", says: "lamps at the mains beat with the shutter", add: (*Scene).flicker},
		{name: "screen", says: "a television in the view", add: (*Scene).screen},
		{name: "focus", says: "the autofocus hunts from time to time", add: (*Scene).hunting},
		{name: "covered", says: "tampering: a hand or a cloth covers the lens", add: (*Scene).covered},
		{name: "blinded", says: "tampering: a lamp blinds the camera", add: (*Scene).blinded},
		{name: "sprayed", says: "tampering: paint covers the lens", add: (*Scene).sprayed},
		{name: "defocused", says: "tampering: the focus is lost, slowly or at once", add: (*Scene).defocused},
		{name: "turned", says: "tampering: the camera is turned to another view", add: (*Scene).turned},
		{name: "frozen", says: "tampering: the picture stands still", add: (*Scene).freezes},
		{name: "truck", says: "no tampering: a truck stops close to the camera", add: (*Scene).truck, outdoors: true},
		{name: "parks", says: "a car comes, stands there for long, and leaves", add: (*Scene).parks, outdoors: true},
		{name: "departs", says: "a car leaves that stood there from the beginning", add: (*Scene).departs,
			outdoors: true},
		{name: "traffic", says: "cars pass all the time, from the first picture on; a lane may have to wait",
			add: (*Scene).traffic, outdoors: true},
		{name: "sits", says: "someone comes, sits there nearly still for most of the loop, and leaves",
			add: (*Scene).sits},
		{name: "thermal", says: "a thermal camera: a flat place, bright bodies with dark halos", add: (*Scene).thermal},
		{name: "heat", says: "hot air lets everything waver", add: (*Scene).heat, outdoors: true},
		{name: "fog", says: "no tampering: fog comes and goes", add: (*Scene).fog, outdoors: true},
	}
	for _, kind := range plate.Kinds() {
		all = append(all, part{name: kind, says: "in this place"})
	}
	return all
}

// Names are the parts there are.
func Names() []string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}

// Help explains the parts, one a line.
func Help() string {
	var b []byte
	for _, p := range parts() {
		b = append(b, p.name...)
		for range 14 - len(p.name) {
			b = append(b, ' ')
		}
		b = append(append(b, p.says...), '\n')
	}
	return string(b) + "Parts are joined with +, such as rain+walker or night+street+car.\n"
}

func partOf(name string) part {
	all := parts()
	return all[slices.IndexFunc(all, func(p part) bool { return p.name == name })]
}
