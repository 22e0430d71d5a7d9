// Package quota shares the ring among cameras: it says into which lane a camera's next still goes.
// It does sums, and knows neither files nor a clock; the ring asks it before each still, and drops
// segments so that the shares hold (victim.go there).
//
// The ring has two lanes, each a sequence of segments of its own. A camera's stills go into the
// quiet lane as long as it stays within its day's share, and those beyond into the loud one. When
// room is needed, the oldest segment of all goes, but for one case: a segment of the quiet lane
// that was filled less than a day ago stays, and the oldest of the loud lane goes, as long as the
// quiet lane takes no more than half of the ring.
//
// So a camera that stores no more than MaxBytes / (4 · cameras) within any 24 hours keeps its last
// day, whatever the others store: no more than half of the ring is written to the quiet lane in any
// 24 hours (each account lets through a full quota at once and another one in the course of a day),
// and half of the ring the quiet lane keeps. A camera that stores more keeps its newest stills in
// the loud lane, and of the day before those that its quota let through, evenly spread. No still is
// ever written twice.
//
//	accounts := quota.New(4<<30, 16<<20, 5)
//	lane := accounts.Lane("100d4c41", size, uptime)   // form.Quiet or form.Loud
package quota
