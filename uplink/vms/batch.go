package vms

import "encoding/json"

// PathReportMany takes many events in one request. It is not part of the public interface: a
// service that has it says so in its answer to a registration (Registered.ReportAtOnce).
const PathReportMany = "/api/v3.0/events:report"

// ReportMany is the body of such a request, the events in the order in which they are to be stored.
type ReportMany struct {
	Events []json.RawMessage `json:"events"`
}

// Reported is the verdict on one event of a ReportMany: the id under which it is stored, or why it
// is not.
type Reported struct {
	ID    string `json:"id,omitempty"`
	Error *Error `json:"error,omitempty"`
}

// ReportedMany is the answer to a ReportMany: the verdicts in the order of the events. It ends
// after the first event that was neither stored nor refused for good; those behind it were not
// looked at, so that the order of events is kept.
type ReportedMany struct {
	Results []Reported `json:"results"`
}

// RefusedCamera says why a camera of a registration is not taken.
type RefusedCamera struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Registered is the answer to a registration.
type Registered struct {
	Registration
	// ReportAtOnce is how many events PathReportMany takes at once; 0: the service does not have
	// it.
	ReportAtOnce int `json:"reportAtOnce,omitempty"`
	// AddressUnasked says why the service will not ask the bridge at its Address, "" if it will.
	AddressUnasked string `json:"addressUnasked,omitempty"`
	// Refused are the cameras that the account may not have. The others are taken.
	Refused []RefusedCamera `json:"refused,omitempty"`
	// Twins says that two bridges that run have registered as this one.
	Twins bool `json:"twins,omitempty"`
	// Book is there if the service keeps marks, and the registration came with one.
	Book *Book `json:"book,omitempty"`
}
