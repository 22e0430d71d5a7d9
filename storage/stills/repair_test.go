package stills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRepair does the same damage to a ring, and repairs it instead of opening it: then nothing is
// wrong any more, and all stills that can be read are found. A second repair has nothing to do.
func TestRepair(t *testing.T) {
	for _, c := range damages {
		t.Run(c.name, func(t *testing.T) {
			dir, list := made(t)
			c.do(t, dir)
			before := everything(t, dir)
			rep, err := Repair(dir, small)
			require.NoError(t, err)
			require.Empty(t, rep.Problems, "%v", rep.Repairs)
			require.Empty(t, rep.ForeignFiles)
			require.Equal(t, c.clean && c.stats.ForeignFiles == 0, len(rep.Repairs) == 0 ||
				strings.Contains(c.name, "torn"), "%v", rep.Repairs)
			again, err := Repair(dir, small)
			require.NoError(t, err)
			require.Empty(t, again.Repairs)
			for content := range everything(t, dir) {
				delete(before, content)
			}
			for content, path := range before {
				require.NotContains(t, content, "hello", "the foreign file %s is gone", path)
			}
			r := open(t, dir, small)
			require.Equal(t, len(list)-c.lost, survey(t, r, list), "%v", rep.Repairs)
			s := r.Stats()
			require.Zero(t, s.DamagedSegments+s.DamagedIndexes+s.DamagedRecords+s.ForeignFiles+s.TornRecords)
		})
	}
}

// everything is all files below dir, by their contents.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		files[string(b)] = path
		return err
	}))
	return files
}
