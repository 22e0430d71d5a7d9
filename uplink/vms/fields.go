package vms

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// schemaFields are the fields of every schema that is publicly known, beside type and creatorId:
// NAME:KIND, NAME*:KIND for one that must be there. Of a schema without fields none is known. What
// values a text may have is not checked, since such lists grow: a status of a device is the
// exception (fieldKinds).
var schemaFields = map[string]string{
	"vms.audioDetection.v1":     "class:text classConfidence:number direction:number loudness:number",
	"vms.animalAttributes.v1":   "objectId*:text timestamp:time stationary:boolean stationaryConfidence:number",
	"vms.batteryLevelUpdate.v1": "status*:text",
	"vms.creatorDetails.v1": "id*:text vendor*:text application:text hardwareModel:text version:text " +
		"needsValidation:boolean",
	"vms.croppedFrameImageUrl.v1":         "objectId*:text httpsUrl*:text timestamp*:time",
	"vms.customLabels.v1":                 "objectId:text label*:text",
	"vms.deviceCloudPreviousStatus.v1":    "connectionStatus*:text startTimestamp:time duration:number",
	"vms.deviceCloudStatusUpdate.v1":      "newStatus*:status",
	"vms.deviceIO.v1":                     "portId*:text ioType*:text idleCircuitState*:text",
	"vms.displayLocationSummary.v1":       "id*:text name*:text",
	"vms.displayOverlay.boundingBox.v1":   "overlays*:overlays",
	"vms.dotNumberRecognition.v1":         "objectId*:text regNumber*:text regNumberConfidence:number",
	"vms.eevaAttributes.v1":               "objectId:text queryType*:text query*:text binaryResponse*:boolean",
	"vms.entryDirection.v1":               "direction*:text",
	"vms.fullFrameImageUrl.v1":            "httpsUrl*:text timestamp*:time feedType:text",
	"vms.fullFrameImageUrlWithOverlay.v1": "overlaySvgHeaderUrl*:text overlayEmbeddedUrl:text",
	"vms.geoLocation.v1": "latitude*:number longitude*:number altitude:number speed:number heading:number " +
		"hdop:number timestamp:time",
	"vms.humanValidationDetails.v1": "objectId*:text isValid:boolean extValidatedById:text timestamp:time " +
		"validationNotes:text",
	"vms.intrusionArea.v1": "id*:text name:text area:points",
	"vms.jobDetails.v1":    "jobTypeId*:text state*:text",
	"vms.lineCrossLine.v1": "id*:text name:text line:points direction:text",
	"vms.loiterArea.v1":    "id*:text name:text area:points minimumDwellTimeSec:integer",
	"vms.lprAccessType.v1": "accessType*:text vehicleListId*:text",
	"vms.lprDetection.v1": "timestamp:time plateBoundingBox:box plate*:text plateConfidence:number " +
		"plateRegion:text plateRegionConfidence:number direction:text",
	"vms.measurementStringValueUpdate.v1": "propertyType:text value*:text displayUnitType:text",
	"vms.measurementThresholdStatus.v1":   "propertyType*:text status*:text",
	"vms.measurementValueUpdate.v1":       "propertyType:text value*:number displayUnitType:text",
	"vms.monitoredArea.v1":                "id*:text name:text area:points",
	"vms.motionRegion.v1":                 "id*:text name:text area:points",
	"vms.objectClassification.v1":         "objectId*:text timestamp:time class*:text confidence:number",
	"vms.objectDetection.v1":              "objectId*:text timestamp*:time boundingBox*:box",
	"vms.objectRegionMapping.v1":          "objectId*:text regions*:regions",
	"vms.ownerDetails.v1":                 "ownerId*:text ownerType*:text",
	"vms.personAttributes.v1": "objectId*:text timestamp:time upperBodyClothingColor:text " +
		"upperBodyClothingColorConfidence:number lowerBodyClothingColor:text " +
		"lowerBodyClothingColorConfidence:number gender:text genderConfidence:number " +
		"stationary:boolean stationaryConfidence:number helmet:boolean " +
		"helmetConfidence:number vest:boolean vestConfidence:number",
	"vms.posTransactionCartChangeTrail.v1": "seq*:integer extLineId:text cartChangeType*:text cartChangeResult:text " +
		"extOperatorId:text item:object sku:text productCategory:text unitPrice:number " +
		"quantity:number price:number timestamp*:time",
	"vms.posTransactionEnd.v1": "billNumber:text transactionType*:text status*:text currency*:text " +
		"subTotal:number totalAmount*:number totalTax:number totalDiscount:number " +
		"percDiscount:number extTableId:text",
	"vms.posTransactionFlag.v1": "isFlagged*:boolean userId:text userFirstName:text userLastName:text timestamp*:time",
	"vms.posTransactionItem.v1": "rowNum*:integer seq:number extLineId:text sku:text name:text item:object " +
		"parentSku:text parentName:text unitPrice:number quantity:number price*:number " +
		"timestamp:time",
	"vms.posTransactionPayment.v1": "method*:text status*:text currency*:text amount*:number timestamp*:time " +
		"extPaymentId:text",
	"vms.posTransactionStart.v1": "extStoreId:text extRegisterId:text extTransactionId*:text extOperatorId:text " +
		"operatorFirstName:text operatorLastName:text",
	"vms.ptzPositionUpdate.v1": "newPosition*:position",
	"vms.recognizedText.v1":    "objectId*:text value*:text valueConfidence:number",
	"vms.resourceDetails.v1":   "resourceId*:text resourceName*:text",
	"vms.thermalCameraValueUpdate.v1": "value*:number measurement*:text minimumTemp:number maximumTemp:number " +
		"averageTemp:number maxTempPosition:point minTempPosition:point " +
		"displayUnitType*:text boundingBox:box",
	"vms.thermalMonitoredArea.v1": "id*:text name:text area:points detectionType:text threshold:number " +
		"delay:integer",
	"vms.trailerNumberRecognition.v1": "objectId*:text regNumber*:text regNumberConfidence:number",
	"vms.truckNumberRecognition.v1":   "objectId*:text regNumber*:text regNumberConfidence:number",
	"vms.userData.v1":                 "",
	"vms.vehicleAttributes.v1": "objectId*:text timestamp:time color:text colorConfidence:number make:text " +
		"makeDisplay:text makeConfidence:number model:text modelConfidence:number " +
		"bodyType:text bodyTypeConfidence:number year:integer yearConfidence:number " +
		"orientation:text parked:boolean parkedConfidence:number",
	"vms.weaponAttributes.v1":                  "objectId*:text class:text",
	"vms.posTransactionCardLoadSummary.v1":     "",
	"vms.userTags.v1":                          "",
	"vms.rawData.v1":                           "rawJson:object",
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

// field is one field of a schema.
type field struct {
	name     string
	required bool
	kind     string // one of fieldKinds
}

// fieldsOf is schemaFields, read.
var fieldsOf = func() map[string][]field {
	out := map[string][]field{}
	for schema, text := range schemaFields {
		for part := range strings.FieldsSeq(text) {
			name, kind, _ := strings.Cut(part, ":")
			bare := strings.TrimSuffix(name, "*")
			if fieldKinds[kind].is == nil {
				panic("vms: the field " + part + " of " + schema + " is of no known kind")
			}
			out[schema] = append(out[schema], field{bare, bare != name, kind})
		}
	}
	return out
}()

// fieldKind says what a value of a kind must be, in words and as a check of decoded JSON.
type fieldKind struct {
	must string
	is   func(v any) bool
}

var fieldKinds = map[string]fieldKind{
	"text":    {"a text", isText},
	"number":  {"a number", isNumber},
	"integer": {"a whole number", func(v any) bool { f, ok := v.(float64); return ok && f == math.Trunc(f) }},
	"boolean": {"true or false", func(v any) bool { _, ok := v.(bool); return ok }},
	"object":  {"an object", func(v any) bool { _, ok := v.(map[string]any); return ok }},
	"time":    {"a time such as 2026-11-21T07:10:00.000+00:00", isTime},
	"box":     {"four numbers from 0 to 1: left, top, right, bottom", isBox},
	"point":   {"two numbers", isPoint},
	"points":  {"a list of points [x, y]", func(v any) bool { return isListOf(v, isPoint) }},
	"status": {"an object whose connectionStatus is one of " + strings.Join(Statuses(), ", "), func(v any) bool {
		o, _ := v.(map[string]any)
		s, _ := o["connectionStatus"].(string)
		return ValidStatus(s)
	}},
	"position": {"an object of numbers", func(v any) bool {
		return isObject(v, nil, func(_ string, v any) bool { return isNumber(v) })
	}},
	"regions": {"a list of objects with a name, and an id if there is one, both texts", func(v any) bool {
		return isListOf(v, func(v any) bool {
			return isObject(v, []string{"name"}, func(name string, v any) bool {
				return name != "name" && name != "id" || isText(v)
			})
		})
	}},
	"overlays": {"a list of objects with the texts label, labelLocation and color, a time timestamp, a whole number " +
		"lineWidth and a boundingBox of four numbers from 0 to 1", func(v any) bool {
		return isListOf(v, func(v any) bool { return isObject(v, overlayFields, isOverlayField) })
	}},
}

var overlayFields = []string{"label", "timestamp", "labelLocation", "color", "lineWidth", "boundingBox"}

func isOverlayField(name string, v any) bool {
	switch name {
	case "label", "labelLocation", "color":
		return isText(v)
	case "timestamp":
		return isTime(v)
	case "lineWidth":
		f, ok := v.(float64)
		return ok && f == math.Trunc(f)
	case "boundingBox":
		return isBox(v)
	}
	return true
}

func isText(v any) bool   { _, ok := v.(string); return ok }
func isNumber(v any) bool { _, ok := v.(float64); return ok }

func isTime(v any) bool {
	s, ok := v.(string)
	if !ok {
		return false
	}
	_, err := ParseTime(s)
	return err == nil
}

func isBox(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) == 4 && isListOf(v, func(v any) bool { f, ok := v.(float64); return ok && f >= 0 && f <= 1 })
}

func isPoint(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) == 2 && isListOf(v, isNumber)
}

func isListOf(v any, is func(any) bool) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(v any) bool { return !is(v) })
}

// isObject says whether a value is an object that has the fields of need, and of whose fields each
// passes.
func isObject(v any, need []string, passes func(name string, v any) bool) bool {
	fields, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for _, name := range need {
		if _, ok := fields[name]; !ok {
			return false
		}
	}
	for name, v := range fields {
		if !passes(name, v) {
			return false
		}
	}
	return true
}

// checkItem lists what is wrong with the fields of one data item; where names the item in messages.
// Fields that nobody knows are anyone's.
func checkItem(where string, d Data) []Problem {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(d.raw, &fields); err != nil {
		return []Problem{wrong(where, "is not an object")}
	}
	var out []Problem
	for _, f := range fieldsOf[d.Type] {
		raw, ok := fields[f.name]
		if !ok || string(raw) == "null" {
			if f.required {
				out = append(out, Problem{where + "." + f.name, ReasonMissing, "is required by " + d.Type})
			}
			continue
		}
		var v any
		if kind := fieldKinds[f.kind]; json.Unmarshal(raw, &v) != nil || !kind.is(v) {
			out = append(out, wrong(where+"."+f.name, fmt.Sprintf("is %s, but %s wants %s", shorten(raw), d.Type,
				kind.must)))
		}
	}
	if creator, ok := fields["creatorId"]; !ok || string(creator) == "null" || d.CreatorID == "" {
		out = append(out, Problem{where + ".creatorId", ReasonMissing, "every data item names its creator"})
	}
	if d.Type == SchemaUserData {
		out = append(out, checkUserData(where, fields)...)
	}
	return out
}

// maxShown bounds what of a value is repeated in a refusal.
const maxShown = 60

// shorten is a JSON value to be shown, cut where it is long.
func shorten(raw json.RawMessage) string {
	if text := []rune(string(raw)); len(text) > maxShown {
		return string(text[:maxShown]) + "…"
	}
	return string(raw)
}
