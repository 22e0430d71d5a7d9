package configs

import "strings"

// closest is the known key that word was probably meant to be, or empty.
func closest(word string, known []string) string {
	best, least := "", 4
	switch {
	case len(word) < 4:
		least = 2 // "url" is not "arm"
	case len(word) < 5:
		least = 3
	}
	plain := strings.NewReplacer("-", "", "_", "", " ", "")
	for _, k := range known {
		if plain.Replace(strings.ToLower(word)) == plain.Replace(k) {
			return k
		}
		if n := edits(strings.ToLower(word), k); n < least && n < len(k) {
			best, least = k, n
		}
	}
	return best
}

// edits counts the letters to add, drop, change or swap with a neighbour to make b of a
// (Damerau-Levenshtein, restricted).
func edits(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
