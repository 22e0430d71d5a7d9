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
}

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
