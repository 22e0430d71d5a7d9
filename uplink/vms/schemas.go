package vms

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// schemaPattern is the form of a data schema id; a name may have several parts (vms.displayOverlay.boundingBox.v1).
var schemaPattern = regexp.MustCompile(`^vms\.\w+(\.\w+)*\.v\d+$`)

// requiredFields names the fields that an item must have beside type and creatorId, for every schema whose fields are
// publicly known.
var requiredFields = map[string]string{
	"vms.audioDetection.v1":                    "",
	"vms.animalAttributes.v1":                  "objectId",
	"vms.batteryLevelUpdate.v1":                "status",
	"vms.creatorDetails.v1":                    "id vendor",
	"vms.croppedFrameImageUrl.v1":              "objectId httpsUrl timestamp",
	"vms.customLabels.v1":                      "label",
	"vms.deviceCloudPreviousStatus.v1":         "connectionStatus",
	"vms.deviceCloudStatusUpdate.v1":           "newStatus",
	"vms.deviceIO.v1":                          "portId ioType idleCircuitState",
	"vms.displayLocationSummary.v1":            "id name",
	"vms.displayOverlay.boundingBox.v1":        "overlays",
	"vms.dotNumberRecognition.v1":              "objectId regNumber",
	"vms.eevaAttributes.v1":                    "queryType query binaryResponse",
	"vms.entryDirection.v1":                    "direction",
	"vms.fullFrameImageUrl.v1":                 "httpsUrl timestamp",
	"vms.fullFrameImageUrlWithOverlay.v1":      "overlaySvgHeaderUrl",
	"vms.geoLocation.v1":                       "latitude longitude",
	"vms.humanValidationDetails.v1":            "objectId",
	"vms.intrusionArea.v1":                     "id",
	"vms.jobDetails.v1":                        "jobTypeId state",
	"vms.lineCrossLine.v1":                     "id",
	"vms.loiterArea.v1":                        "id",
	"vms.lprAccessType.v1":                     "accessType vehicleListId",
	"vms.lprDetection.v1":                      "plate",
	"vms.measurementStringValueUpdate.v1":      "value",
	"vms.measurementThresholdStatus.v1":        "propertyType status",
	"vms.measurementValueUpdate.v1":            "value",
	"vms.monitoredArea.v1":                     "id",
	"vms.motionRegion.v1":                      "id",
	"vms.objectClassification.v1":              "objectId class",
	"vms.objectDetection.v1":                   "objectId timestamp boundingBox",
	"vms.objectRegionMapping.v1":               "objectId regions",
	"vms.ownerDetails.v1":                      "ownerId ownerType",
	"vms.personAttributes.v1":                  "objectId",
	"vms.posTransactionCartChangeTrail.v1":     "seq cartChangeType timestamp",
	"vms.posTransactionEnd.v1":                 "transactionType status currency totalAmount",
	"vms.posTransactionFlag.v1":                "isFlagged timestamp",
	"vms.posTransactionItem.v1":                "rowNum price",
	"vms.posTransactionPayment.v1":             "method status currency amount timestamp",
	"vms.posTransactionStart.v1":               "extTransactionId",
	"vms.ptzPositionUpdate.v1":                 "newPosition",
	"vms.recognizedText.v1":                    "objectId value",
	"vms.resourceDetails.v1":                   "resourceId resourceName",
	"vms.thermalCameraValueUpdate.v1":          "value measurement displayUnitType",
	"vms.thermalMonitoredArea.v1":              "id",
	"vms.trailerNumberRecognition.v1":          "objectId regNumber",
	"vms.truckNumberRecognition.v1":            "objectId regNumber",
	"vms.userData.v1":                          "",
	"vms.vehicleAttributes.v1":                 "objectId",
	"vms.weaponAttributes.v1":                  "objectId",
	"vms.posTransactionCardLoadSummary.v1":     "",
	"vms.userTags.v1":                          "",
	"vms.rawData.v1":                           "",
	"vms.deviceErrorStatusUpdate.v1":           "",
	"vms.deviceCommonStatusUpdate.v1":          "",
	"vms.vehicleListInfo.v1":                   "",
	"vms.vspInsightsSummary.v1":                "",
	"vms.bestImageUrl.v1":                      "",
	"vms.trajectory.v1":                        "",
	"vms.countData.v1":                         "",
	"vms.countedLineCross.v1":                  "",
	"vms.deviceOperationUpdate.v1":             "",
	"vms.deviceCloudConnectionStatusUpdate.v1": "",
}

// connectionStatuses are the values that a connectionStatus may have.
var connectionStatuses = map[string]bool{
	StatusOnline: true, StatusDeviceOffline: true, StatusBridgeOffline: true, StatusInvalidCredentials: true,
	StatusError: true, StatusOff: true, StatusUnknown: true,
}

// ValidStatus says whether s is one of the Status constants.
func ValidStatus(s string) bool { return connectionStatuses[s] }

// checkItem lists what is wrong with the fields of one data item; where names the item in messages.
func checkItem(where string, d Data) []Problem {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(d.raw, &fields); err != nil {
		return []Problem{wrong(where, "is not an object")}
	}
	var out []Problem
	for name := range strings.FieldsSeq(requiredFields[d.Type]) {
		if v, ok := fields[name]; !ok || string(v) == "null" {
			out = append(out, Problem{where + "." + name, ReasonMissing, "is required by " + d.Type})
		}
	}
	if creator, ok := fields["creatorId"]; !ok || string(creator) == "null" || d.CreatorID == "" {
		out = append(out, Problem{where + ".creatorId", ReasonMissing, "every data item names its creator"})
	}
	if box, ok := fields["boundingBox"]; ok && !isBox(box) {
		out = append(out, wrong(where+".boundingBox", "must be four numbers from 0 to 1: left, top, right, bottom"))
	}
	if ts, ok := fields["timestamp"]; ok && requiredFields[d.Type] != "" {
		var t Time
		if err := json.Unmarshal(ts, &t); err != nil {
			out = append(out, wrong(where+".timestamp", err.Error()))
		}
	}
	switch d.Type {
	case SchemaDeviceStatus:
		var s ConnectionStatus
		if raw, ok := fields["newStatus"]; ok && (json.Unmarshal(raw, &s) != nil || !ValidStatus(s.ConnectionStatus)) {
			out = append(out, wrong(where+".newStatus.connectionStatus", "is none of the known statuses"))
		}
	case SchemaUserData:
		out = append(out, checkUserData(where, fields)...)
	}
	return out
}

func isBox(raw json.RawMessage) bool {
	var box []float64
	if json.Unmarshal(raw, &box) != nil || len(box) != 4 {
		return false
	}
	for _, v := range box {
		if v < 0 || v > 1 {
			return false
		}
	}
	return true
}

// Limits of user data, events.md §8.
const (
	maxUserKeys  = 5
	maxUserChars = 256
)

var camelCase = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

func checkUserData(where string, fields map[string]json.RawMessage) []Problem {
	var out []Problem
	keys := 0
	for name, raw := range fields {
		if name == "type" || name == "creatorId" {
			continue
		}
		keys++
		if !camelCase.MatchString(name) || utf8.RuneCountInString(name) > maxUserChars {
			out = append(out, wrong(where, fmt.Sprintf("key %.40q must be camelCase and at most %d characters long", name, maxUserChars)))
			continue
		}
		value := string(raw)
		var s string
		if json.Unmarshal(raw, &s) == nil {
			value = s
		}
		if utf8.RuneCountInString(value) > maxUserChars {
			out = append(out, wrong(where+"."+name, fmt.Sprintf("must be at most %d characters long", maxUserChars)))
		}
	}
	if keys > maxUserKeys {
		out = append(out, wrong(where, fmt.Sprintf("has %d keys, at most %d are allowed", keys, maxUserKeys)))
	}
	return out
}
