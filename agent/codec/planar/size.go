package planar

import "math"

// Fit is the largest size with w×h's shape that has at most maxPixels pixels; never larger than
// w×h, never under 1×1.
func Fit(w, h, maxPixels int) (int, int) {
	if w*h <= maxPixels {
		return w, h
	}
	fw := max(1, int(math.Sqrt(float64(maxPixels)*float64(w)/float64(h))+1e-9))
	fh := max(1, (fw*h+w/2)/w)
	for fw*fh > maxPixels && (fw > 1 || fh > 1) {
		if fw > 1 {
			fw--
		}
		fh = max(1, min((fw*h+w/2)/w, maxPixels/fw))
	}
	return min(fw, w), min(fh, h)
}

// FitWidth is w×h shrunk to at most maxWidth pixels a row, shape kept; 0 and anything wider than w
// mean w×h itself.
func FitWidth(w, h, maxWidth int) (int, int) {
	if maxWidth <= 0 || maxWidth >= w {
		return w, h
	}
	return maxWidth, min(h, max(1, (h*maxWidth+w/2)/w))
}
