package unit

// jpegSize reads width and height from the frame header of a JPEG (ITU-T T.81 B.2.2) without
// touching its picture data. ok is false if there is no frame header before the first scan.
func jpegSize(b []byte) (width, height int, ok bool) {
	if len(b) < 4 || b[0] != 0xFF || b[1] != 0xD8 {
		return 0, 0, false
	}
	for i := 2; i+4 <= len(b); {
		if b[i] != 0xFF {
			return 0, 0, false
		}
		marker := b[i+1]
		if marker == 0xFF { // fill byte
			i++
			continue
		}
		size := int(b[i+2])<<8 | int(b[i+3])
		switch {
		case marker == 0xDA || marker == 0xD9 || size < 2: // scan or end before a frame header
			return 0, 0, false
		case marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
			if i+9 > len(b) || size < 8 {
				return 0, 0, false
			}
			height = int(b[i+5])<<8 | int(b[i+6])
			width = int(b[i+7])<<8 | int(b[i+8])
			return width, height, width > 0 && height > 0
		}
		i += 2 + size
	}
	return 0, 0, false
}
