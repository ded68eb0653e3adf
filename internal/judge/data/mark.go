package data

import (
	"bytes"
	"fmt"
)

// marked is a machine that reads and writes parts of block devices.
type marked interface {
	DeviceBytes(path string) (int64, error)
	ReadPart(path string, offset int64, n int) ([]byte, error)
	WritePart(path string, offset int64, data []byte) error
}

// markContent is a block in the middle of a device, because a copy must have more than the first
// blocks.
var markContent = bytes.Repeat([]byte("marked by csisim"), BlockBytes/16)

// mark writes once to the middle of a new volume's device, and records the place.
func (c *Check) mark(u Use) {
	m, can := u.Machine.(marked)
	if !can || c.marks[u.Volume.String()] != 0 {
		return
	}
	size, err := m.DeviceBytes(u.Path)
	middle := size / 2 / BlockBytes * BlockBytes
	if err == nil && middle > BlockBytes && m.WritePart(u.Path, middle, markContent) == nil {
		c.marks[u.Volume.String()] = middle
	}
}

// compareMark looks for the block of the source in a copy.
func (c *Check) compareMark(u Use, source string) {
	m, can := u.Machine.(marked)
	at := c.marks[source]
	if !can || at == 0 {
		return
	}
	found, err := m.ReadPart(u.Path, at, BlockBytes)
	if err == nil && !bytes.Equal(found, markContent) {
		c.incomplete(u, source, fmt.Sprintf("block at offset %d", at), "other content")
	}
}
