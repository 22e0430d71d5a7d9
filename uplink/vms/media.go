package vms

// MediaPage is an answer of GET /media, when there are images of a camera: a page without
// totalSize, as the public service has it, and the gaps in its time.
type MediaPage struct {
	Results       []MediaInterval `json:"results"`
	Gaps          []MediaGap      `json:"gaps"`
	NextPageToken string          `json:"nextPageToken"`
	PrevPageToken string          `json:"prevPageToken"`
}

// MediaInterval is a time in which images follow each other closely, with both ends.
type MediaInterval struct {
	Type      string `json:"type"`
	DeviceID  string `json:"deviceId"`
	MediaType string `json:"mediaType"`
	Start     Time   `json:"startTimestamp"`
	End       Time   `json:"endTimestamp"`
}

// MediaGap is a time without images, and why.
type MediaGap struct {
	Start  Time   `json:"startTimestamp"`
	End    *Time  `json:"endTimestamp"` // null while it lasts
	Reason string `json:"reason"`
}
