package vms

import (
	"slices"
	"strings"
)

// Types lists the catalogue: every event type that this project's servers accept and list, those
// that the interface names first. The slice and its records must not be changed.
func Types() []EventType { return catalogue }

// TypeByID finds a record of the catalogue. A type may be given with the prefix of the public
// sources, see Canonical.
func TypeByID(id string) (EventType, bool) {
	t, ok := byID[Canonical(id)]
	return t, ok
}

// TypeIDs lists the ids of Types, in the same order, in a slice of the caller's own.
func TypeIDs() []string {
	ids := make([]string, len(catalogue))
	for i, t := range catalogue {
		ids[i] = t.Type
	}
	return ids
}

// Canonical turns an event type, data schema or creator of the public sources, which print it as
// een.name.v1, into the spelling of the interface documents. Both are understood on input; output
// always has the documents' spelling.
func Canonical(id string) string {
	if rest, ok := strings.CutPrefix(id, "een."); ok {
		return "vms." + rest
	}
	return id
}

// allows says whether a schema may be attached to events of this type. Creator details belong to
// every type. A schema that the catalogue does not know is allowed everywhere: the service's list
// grows, and an event must not be lost over it.
func (t EventType) allows(schema string) bool {
	return schema == SchemaCreatorDetails || slices.Contains(t.Schemas, schema) || !knownSchemas[schema]
}

var (
	catalogue    = makeCatalogue()
	byID         = indexTypes(catalogue)
	knownSchemas = indexSchemas(catalogue)
)

func indexTypes(types []EventType) map[string]EventType {
	index := map[string]EventType{}
	for _, t := range types {
		index[t.Type] = t
	}
	return index
}

// indexSchemas knows the schemas of all types, and those that no type lists but whose fields are
// known.
func indexSchemas(types []EventType) map[string]bool {
	index := map[string]bool{}
	for _, t := range types {
		for _, s := range t.Schemas {
			index[s] = true
		}
	}
	for schema := range schemaFields {
		index[schema] = true
	}
	return index
}

func makeCatalogue() []EventType {
	var all []EventType
	for _, row := range rows {
		var schemas []string
		for name := range strings.FieldsSeq(row.schemas) {
			if group, ok := groups[name]; ok {
				schemas = append(schemas, group...)
				continue
			}
			schemas = append(schemas, "vms."+name+".v1")
		}
		all = append(all, EventType{"vms." + row.name + ".v1", row.display, row.about, schemas})
	}
	return all
}

// groups shorten the schema lists below.
var groups = map[string][]string{
	"BOX":     {SchemaObject, SchemaFullFrame, SchemaCroppedFrame},
	"OVERLAY": {SchemaOverlay, SchemaFullFrameOverlay},
}

// rows hold name, display name, description and schemas. Ids and schemas follow the public
// catalogue; the descriptions are ours.
var rows = []struct{ name, display, about, schemas string }{
	{"deviceCloudStatusUpdateEvent", "Device status",
		"The connection status of a device changed. The event lasts as long as the device keeps that status.",
		"deviceCloudStatusUpdate deviceCloudPreviousStatus"},
	{"motionDetectionEvent", "Motion Detection",
		"Something moved in front of the camera. The event lasts as long as the motion.", "BOX OVERLAY"},
	{"motionInRegionDetectionEvent", "Motion In ROI Detection",
		"Something moved inside a region drawn for the camera. The event lasts as long as the motion there.",
		"motionRegion BOX OVERLAY"},
	{"lprPlateReadEvent", "License plate recognition", "The plate of a passing vehicle was read.",
		"objectDetection lprDetection vehicleAttributes lprAccessType userData userTags croppedFrameImageUrl " +
			"fullFrameImageUrl OVERLAY vehicleListInfo resourceDetails vspInsightsSummary"},
	{"loiterDetectionEvent", "Loitering Detection", "An object stayed in an area for longer than its dwell time.",
		"loiterArea BOX OVERLAY"},
	{"tamperDetectionEvent", "Tampering event",
		"The view of the camera was covered, turned away or changed beyond recognition.", "fullFrameImageUrl"},
	{"objectLineCrossEvent", "Line Crossing Detection", "An object crossed a line drawn for the camera.",
		"lineCrossLine BOX entryDirection OVERLAY"},
	{"objectIntrusionEvent", "Intrusion Detection", "An object entered an area that is watched or closed to it.",
		"intrusionArea BOX entryDirection OVERLAY"},

	{"accessActivationEvent", "Access Activation", "A credential or a user was given access.",
		"credentialAccessActivation creatorDetails userAccessActivation"},
	{"accountCreationEvent", "Account Creation", "An account was made.", "resourceDetails"},
	{"accountDeletionEvent", "Account Deletion", "An account was deleted.", "resourceDetails"},
	{"accountUpdateEvent", "Account Update", "The settings of an account changed.", "resourceDetails"},
	{"animalDetectionEvent", "Animal Detection", "An animal moves in the picture. The event lasts until it is gone.",
		"BOX animalAttributes objectClassification objectRegionMapping OVERLAY"},
	{"batteryLevelUpdateEvent", "Battery Level Update", "The battery of a device became low, or normal again.",
		"batteryLevelUpdate"},
	{"countedObjectLineCrossEvent", "Counted Object Line Cross",
		"How many objects crossed a line in each direction over a stretch of time.", "countedLineCross"},
	{"crowdFormationDetectionEvent", "Crowd Formation Detection", "Several people gathered into a crowd.",
		"BOX objectClassification OVERLAY"},
	{"deviceCloudConnectionStatusUpdateEvent", "Device Cloud Connection Status Update",
		"The connection between a device and the service came up or went down.",
		"deviceCloudConnectionStatusUpdate deviceCloudConnectionPreviousStatus"},
	{"deviceCreationEvent", "Device Creation", "A device was added.", "resourceDetails"},
	{"deviceDeletionEvent", "Device Deletion", "A device was removed.", "resourceDetails"},
	{"deviceIOEvent", "Device IO", "An input or output of a device is active. The event ends when it is idle again.",
		"deviceIO"},
	{"deviceOperationEvent", "Device Operation",
		"Something far-reaching was done to a device, such as new firmware, a swap of hardware or a reset.",
		"resourceDetails deviceOperationDetails deviceOperationSubStep deviceOperationUpdate"},
	{"deviceUpdateEvent", "Device Update", "The settings of a device changed.", "resourceDetails"},
	{"doorStatusEvent", "Door Status", "A door was opened or closed.", "measurementStringValueUpdate"},
	{"edgeReportedDeviceStatusEvent", "Edge Reported Device Status", "A device told its own state or error.",
		"deviceCommonStatusUpdate deviceErrorStatusUpdate"},
	{"eevaQueryEvent", "VLM Query",
		"A question that a user put about the picture got the answer that the user waits for.",
		"customLabels eevaAttributes objectDetection fullFrameImageUrl OVERLAY"},
	{"evacuateProtocolEvent", "Evacuate Protocol", "The order to leave the building, or a part of it, was given.", ""},
	{"faceDetectionEvent", "Face Detection", "A face is in the picture.",
		"BOX personAttributes objectClassification objectRegionMapping OVERLAY"},
	{"fallDetectionEvent", "Fall Detection", "A person fell.", "BOX OVERLAY"},
	{"fightDetectionEvent", "Fight Detection", "People have been fighting for longer than the time set.", ""},
	{"fireDetectionEvent", "Fire Detection", "There is fire in the picture.", "BOX objectClassification OVERLAY"},
	{"fleetCodeRecognitionEvent", "Fleet Code Recognition", "The fleet number on a passing vehicle was read.",
		"objectDetection dotNumberRecognition truckNumberRecognition trailerNumberRecognition croppedFrameImageUrl " +
			"fullFrameImageUrl recognizedText resourceDetails"},
	{"gunDetectionEvent", "Gun Detection", "A gun is in the picture.",
		"BOX motionRegion objectClassification OVERLAY weaponAttributes personAttributes humanValidationDetails"},
	{"gunShotAudioDetectionEvent", "Gun Shot Audio Detection", "A shot was heard.", "audioDetection geoLocation"},
	{"handsUpDetectionEvent", "Hands Up Detection", "A person holds both hands up.", ""},
	{"holdProtocolEvent", "Hold Protocol", "The order to stay in the room and keep the hallways free was given.", ""},
	{"jobCreationEvent", "Job Creation", "A job was started.", "jobDetails ownerDetails"},
	{"jobDeletionEvent", "Job Deletion", "A job was deleted.", "ownerDetails"},
	{"jobUpdateEvent", "Job Update", "The state of a job changed.", "jobDetails ownerDetails"},
	{"layoutCreationEvent", "Layout Creation", "A layout was made.", "resourceDetails"},
	{"layoutDeletionEvent", "Layout Deletion", "A layout was deleted.", "resourceDetails"},
	{"layoutUpdateEvent", "Layout Update", "A layout was changed.", "resourceDetails"},
	{"lockdownProtocolEvent", "Lockdown Protocol", "The order to lock the doors and hide was given.", ""},
	{"measurementThresholdStatusEvent", "Measurement Threshold Status",
		"A measured value went over one of its thresholds, or came back.",
		"measurementThresholdStatus measurementValueUpdate measurementStringValueUpdate"},
	{"objectLineCrossCountEvent", "Object Line Cross Count", "An object that crossed a line was counted.",
		"lineCrossLine BOX entryDirection OVERLAY"},
	{"objectRemovalEvent", "Object Removal",
		"An object is no longer where it was. Its box shows the place, its time is when that was noticed.",
		"monitoredArea BOX OVERLAY"},
	{"panicButtonEvent", "Panic Button", "A user pressed a panic button.", "geoLocation"},
	{"personDetectionEvent", "Person Detection",
		"A person moves in the picture. The event lasts until the person is gone.",
		"BOX personAttributes objectClassification objectRegionMapping OVERLAY geoLocation"},
	{"personMotionDetectionEvent", "Person Motion Detection",
		"Motion that comes from a person. The event lasts as long as the motion.", "BOX objectClassification"},
	{"personTailgateEvent", "Person Tailgate", "Someone without access followed a person who has it through a door.",
		"BOX OVERLAY"},
	{"posTransactionEvent", "POS Transaction",
		"A sale or another transaction at a till. The event lasts from its first line to its end.",
		"posTransactionStart posTransactionEnd posTransactionItem posTransactionPayment " +
			"posTransactionCartChangeTrail posTransactionCardLoadSummary posTransactionFlag posTransactionLabel " +
			"rawData displayLocationSummary fullFrameImageUrl"},
	{"ppeViolationEvent", "PPE Violation", "A person is without the protective equipment that the place demands.",
		"BOX personAttributes objectClassification objectRegionMapping OVERLAY"},
	{"ptzPositionUpdateEvent", "PTZ Position Update", "The camera was panned, tilted or zoomed.", "ptzPositionUpdate"},
	{"sceneLabelEvent", "Scene Label", "What the picture shows: no object, one, or many, each with its labels.",
		"BOX objectClassification vehicleAttributes personAttributes animalAttributes objectRegionMapping OVERLAY " +
			"customLabels eevaAttributes"},
	{"secureProtocolEvent", "Secure Protocol", "The order to get inside and lock the outer doors was given.", ""},
	{"shelterProtocolEvent", "Shelter Protocol", "The order to take shelter was given.", ""},
	{"spillDetectionEvent", "Spill Detection", "Liquid lies on the floor, so that people may slip.",
		"BOX objectClassification OVERLAY"},
	{"t3AlarmAudioDetectionEvent", "T3 Alarm Audio Detection",
		"The three-pulse alarm that calls for leaving the building was heard.", "audioDetection"},
	{"t4AlarmAudioDetectionEvent", "T4 Alarm Audio Detection", "The four-pulse alarm for carbon monoxide was heard.",
		"audioDetection"},
	{"thermalCameraThresholdStatusEvent", "Thermal Camera Threshold Status",
		"The temperature in a watched area crossed a limit that a user set.",
		"thermalCameraValueUpdate thermalMonitoredArea"},
	{"userCreationEvent", "User Creation", "A user was made.", "resourceDetails"},
	{"userDeletionEvent", "User Deletion", "A user was deleted.", "resourceDetails"},
	{"userUpdateEvent", "User Update", "The settings of a user changed.", "resourceDetails"},
	{"vapeDetectionEvent", "Vape Detection", "A sensor noticed vapour of an electronic cigarette.", ""},
	{"vehicleDetectionEvent", "Vehicle Detection", "A vehicle moves in the picture. The event lasts until it is gone.",
		"BOX objectClassification vehicleAttributes objectRegionMapping OVERLAY"},
	{"vehicleMotionDetectionEvent", "Vehicle Motion Detection",
		"Motion that comes from a vehicle. The event lasts as long as the motion.",
		"BOX objectClassification vehicleAttributes"},
	{"violenceDetectionEvent", "Violence Detection", "Someone is being violent.", "creatorDetails"},
	{"weaponDetectionEvent", "Weapon Detection", "A weapon is in the picture.", "BOX motionRegion OVERLAY"},
}
