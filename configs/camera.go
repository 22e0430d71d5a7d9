package configs

import "time"

// Camera is one camera and what is looked for in its pictures.
type Camera struct {
	// ID names the camera in every event and image address. Required, unique; letters, digits and .
	// _ : -, 64 characters at most.
	ID string `yaml:"id"`
	// Name is for people. Default: the id.
	Name string `yaml:"name"`
	// URL is the full-resolution stream ("main"), rtsp or rtsps, without user info. Required.
	URL string `yaml:"url"`
	// PreviewURL is the stream that motion and previews are made from. Default: URL serves as both.
	PreviewURL string `yaml:"preview_url"`
	// Username and Password sign in at both streams. Any characters.
	Username string `yaml:"username"`
	// Password may be here or in PasswordFile.
	Password Secret `yaml:"password"`
	// PasswordFile is a file with the password, one line. Absolute after Load.
	PasswordFile string `yaml:"password_file"`
	// Transport is auto (default: TCP first, then what the camera offers), tcp, udp or multicast.
	Transport string `yaml:"transport"`
	// AllowInsecureBasic permits basic sign-in, which sends the password in clear, on a connection
	// without TLS. Default false.
	AllowInsecureBasic bool `yaml:"allow_insecure_basic"`
	// TLSInsecure accepts any certificate of an rtsps camera. Default false.
	TLSInsecure bool `yaml:"tls_insecure"`
	// TLSFingerprint is the SHA-256 of the one certificate that is accepted: 64 hex digits, colons
	// allowed.
	TLSFingerprint string `yaml:"tls_fingerprint"`
	// Enabled false keeps the camera in the file without connecting to it. Default true.
	Enabled bool `yaml:"enabled"`
	// Motion is complete after Load: what the camera does not say is taken from Config.Motion.
	Motion CameraMotion `yaml:"motion"`
	// Arm is when motion before this camera makes events.
	Arm CameraArm `yaml:"arm"`
}

// Motion is how motion is found. Zero durations mean the detector's own defaults.
type Motion struct {
	// Sensitivity is above 0, up to 1: higher finds smaller and fainter motion. Default 0.5.
	Sensitivity float64 `yaml:"sensitivity"`
	// Rate is how many pictures a second are looked at, at most. 1 to 60, default 10.
	Rate float64 `yaml:"rate"`
	// QuietPeriod is the time without motion after which a span ends. Up to 10m. Not set: 1.5s.
	QuietPeriod time.Duration `yaml:"quiet_period"`
	// MinDuration is how long motion lasts before it counts. Up to 1m. Not set: as long as the
	// detector takes to be sure, about 0.3s.
	MinDuration time.Duration `yaml:"min_duration"`
	// MaxDuration is how long a span may last before it is ended and a new one begins. 10s to 24h.
	// Not set: 5m.
	MaxDuration time.Duration `yaml:"max_duration"`
	// Tamper looks for views that are covered, blinded, out of focus, turned away or frozen.
	// Default true.
	Tamper bool `yaml:"tamper"`
}

// CameraMotion is Motion and the areas of one camera.
type CameraMotion struct {
	Motion `yaml:",inline"`
	// Masks are areas that are never looked at, each a list of corners in order around it: [x, y]
	// as fractions of the picture's width and height, from the upper left corner; 3 to 64, and no
	// side may cross another.
	Masks []Polygon `yaml:"masks"`
	// Regions are named areas that get spans of their own.
	Regions []Region `yaml:"regions"`
	// Lines are lines that get an event each time that something crosses them.
	Lines []Line `yaml:"lines"`
	// Areas are areas that get an event while something is inside, or stays there for long.
	Areas []Area `yaml:"areas"`
}

// Line is a line in a camera's picture that things cross.
type Line struct {
	// ID is unique among the camera's lines; the characters of a camera's id. Required.
	ID string `yaml:"id"`
	// Name is for people. Default: the id.
	Name string `yaml:"name"`
	// Points are the ends of the line, and its corners if it has any. Required.
	Points Polyline `yaml:"points"`
	// Direction is the way that counts: any, a-to-b or b-to-a. Seen from the first point
	// to the last, a is on the left and b on the right: of a line from left to right, a is above.
	Direction string `yaml:"direction"`
}

// setDefaults is called by the decoder for each line before its keys are read.
func (l *Line) setDefaults() { l.Direction = "any" }

// Area is an area of a camera's picture where nothing may be, or not for long.
type Area struct {
	// ID is unique among the camera's areas; the characters of a camera's id. Required.
	ID string `yaml:"id"`
	// Name is for people. Default: the id.
	Name string `yaml:"name"`
	// Area is the corners of the area. Required.
	Area Polygon `yaml:"area"`
	// Intrusion makes an event of each time that something is inside.
	Intrusion bool `yaml:"intrusion"`
	// Loiter makes an event when one thing has been inside for so long, 1s to 24h; 0: never.
	Loiter time.Duration `yaml:"loiter"`
}

// setDefaults is called by the decoder for each area before its keys are read.
func (a *Area) setDefaults() { a.Intrusion = true }

// Polyline is the points of a line in order, each [x, y] as fractions 0..1 of the picture's width
// and height, from the upper left corner. 2 to 64 points.
type Polyline [][2]float64

// Region is a named area of a camera's picture.
type Region struct {
	// ID is unique within the camera; the characters of a camera's id. Required.
	ID string `yaml:"id"`
	// Name is for people. Default: the id.
	Name string `yaml:"name"`
	// Area is the corners of the region. Required.
	Area Polygon `yaml:"area"`
	// Sensitivity within the area. Default: the camera's.
	Sensitivity float64 `yaml:"sensitivity"`
}

// Polygon is the corners of an area in order around it, each [x, y] as fractions 0..1 of the
// picture's width and height, from the upper left corner. The last corner joins the first. 3 to 64
// corners, and no side may cross another.
type Polygon [][2]float64
