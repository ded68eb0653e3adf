package nodeinit

import (
	"bytes"
	"encoding/binary"
	"runtime"
)

// First is an executable file of a few hundred bytes that is process 1 and no more; nil for a processor whose code is not
// known. This program does the same, and takes twenty times as long: to set up what process 1 has no use for.
func First() []byte {
	code := code()
	if code == nil {
		return nil
	}
	const address, headers = 0x400000, 64 + 56
	all := headers + uint64(len(code))
	var file bytes.Buffer
	for _, part := range []any{
		elfHeader{
			Magic: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: 2, Machine: elfMachines[runtime.GOARCH], Version: 1,
			Entry: address + headers, Segments: 64, Size: 64, SegmentSize: 56, SegmentCount: 1,
		},
		elfSegment{Type: 1, Flags: readable | executable, Address: address, Physical: address, InFile: all, InMemory: all, Aligned: 1 << 16},
		code,
	} {
		_ = binary.Write(&file, binary.LittleEndian, part) // a buffer takes all
	}
	return file.Bytes()
}

var elfMachines = map[string]uint16{"amd64": 62, "arm64": 183}

const executable, readable = 1, 4

// elfHeader is Elf64_Ehdr.
type elfHeader struct {
	Magic                                                                      [16]byte
	Type, Machine                                                              uint16
	Version                                                                    uint32
	Entry, Segments, Sections                                                  uint64
	Flags                                                                      uint32
	Size, SegmentSize, SegmentCount, SectionSize, SectionCount, SectionStrings uint16
}

// elfSegment is Elf64_Phdr.
type elfSegment struct {
	Type, Flags                                          uint32
	Offset, Address, Physical, InFile, InMemory, Aligned uint64
}
