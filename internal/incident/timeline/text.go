package timeline

import "unicode/utf8"

// AppendField appends `,"name":"text"` to the fields of a line, unless the text is empty.
func AppendField(to []byte, name, text string) []byte {
	if text == "" {
		return to
	}
	if len(to) > 0 {
		to = append(to, ',')
	}
	to = append(append(append(to, '"'), name...), '"', ':')
	return AppendText(to, text)
}

const hex = "0123456789abcdef"

// AppendText appends a text as JSON.
func AppendText(to []byte, text string) []byte {
	to = append(to, '"')
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		to = append(to, text[from:i]...)
		switch c {
		case '"', '\\':
			to = append(to, '\\', c)
		case '\n':
			to = append(to, '\\', 'n')
		case '\t':
			to = append(to, '\\', 't')
		default:
			to = append(to, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(append(to, text[from:]...), '"')
}
