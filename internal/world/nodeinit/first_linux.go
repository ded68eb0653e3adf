package nodeinit

import (
	"bytes"
	"encoding/binary"
	"runtime"
)

// First returns an executable file of a few hundred bytes that can only be process 1; nil if there
// is no such code for the processor. This program does the same, but takes twenty times as long,
// because it initializes much that process 1 does not use.
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
		_ = binary.Write(&file, binary.LittleEndian, part) // writes to a buffer never fail
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
