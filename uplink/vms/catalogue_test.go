package vms

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCatalogue(t *testing.T) {
	pattern := regexp.MustCompile(`^vms\.\w+Event\.v1$`)
	seen := map[string]bool{}
	texts := map[string]string{}
	for _, typ := range Types() {
		require.Regexp(t, pattern, typ.Type)
		require.False(t, seen[typ.Type], "%s is listed twice", typ.Type)
		seen[typ.Type] = true
		require.NotEmpty(t, typ.Name, typ.Type)
		require.NotEmpty(t, typ.Description, typ.Type)
		require.Empty(t, texts[typ.Description], "%s and %s share a description", typ.Type, texts[typ.Description])
		texts[typ.Description] = typ.Type
		for _, s := range typ.Schemas {
			require.Regexp(t, schemaPattern, s)
		}
	}
	require.Len(t, seen, 67)

	// The types that the interface says the service returns come first, in its order.
	require.Equal(t, []string{
		"vms.deviceCloudStatusUpdateEvent.v1", "vms.motionDetectionEvent.v1", "vms.motionInRegionDetectionEvent.v1",
		"vms.lprPlateReadEvent.v1", "vms.loiterDetectionEvent.v1", "vms.tamperDetectionEvent.v1",
		"vms.objectLineCrossEvent.v1", "vms.objectIntrusionEvent.v1",
	}, TypeIDs()[:8])
}

func TestTypeByID(t *testing.T) {
	for _, id := range []string{TypeMotion, "een.motionDetectionEvent.v1"} {
		typ, ok := TypeByID(id)
		require.True(t, ok, id)
		require.Equal(t, TypeMotion, typ.Type)
	}
	for _, id := range []string{"", "motionDetectionEvent", "vms.motionDetectionEvent.v2",
		"een.een.motionDetectionEvent.v1"} {
		_, ok := TypeByID(id)
		require.False(t, ok, id)
	}
}

func TestSchemasOfType(t *testing.T) {
	motion, _ := TypeByID(TypeMotion)
	for schema, want := range map[string]bool{
		SchemaObject: true, SchemaFullFrame: true, SchemaOverlay: true, SchemaCreatorDetails: true,
		SchemaMotionRegion: false, SchemaDeviceStatus: false,
		"vms.notYetHeardOf.v1": true,
	} {
		require.Equal(t, want, motion.allows(schema), schema)
	}
	panicButton, _ := TypeByID("vms.fightDetectionEvent.v1")
	require.True(t, panicButton.allows(SchemaCreatorDetails))
	require.False(t, panicButton.allows(SchemaObject))
}

// Each type has a name and a description of its own in the second language.
func TestCatalogueInJapanese(t *testing.T) {
	types, lang := TypesIn("ja")
	require.Equal(t, Japanese, lang)
	require.Len(t, types, len(Types()))
	seen := map[string]bool{}
	for i, typ := range types {
		require.Equal(t, Types()[i].Type, typ.Type)
		require.NotEqual(t, Types()[i].Name, typ.Name, typ.Type)
		require.Regexp(t, `[ぁ-んァ-ヶ一-龠]`, typ.Description, typ.Type)
		require.False(t, seen[typ.Name] || seen[typ.Description], typ.Type)
		seen[typ.Name], seen[typ.Description] = true, true
	}
	_, lang = TypesIn("de")
	require.Equal(t, English, lang)
}
