package effect

import (
	"crypto/aes"
	"crypto/cipher"
	"path"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/machine"
)

// fillFields are the fields of faults that fill a volume while it is measured.
type fillFields struct {
	Fill bool `json:"fill,omitempty" doc:"Right after its OK a file of 4 MiB is written to the volume, and the driver program is called again, with the file and without it. The file must not make used fall and available rise by its size. For NodeGetVolumeStats of a file system."`
}

// fill writes a large file to the volume after an OK answer, and measures the volume with the file
// and without it.
var fill = &Effect{
	Name:  fault.Fill,
	Field: "fill",
	Given: func(f *Fields) bool { return f.Fill },
	Check: func(f *Fields, call string, c Checker) {
		if f.Fill && calls.IsMethod(call) && !calls.MayBe(call, fault.Measures) {
			c.Report("call", "fill of "+call, "NodeGetVolumeStats or *")
		}
	},
	Affects: fault.Measures,
	InWords: words("the same call again, with a file of 4 MiB in the volume, and without it"),
	Doubles: true,
	Do:      doFill,
}

const (
	fillName  = ".csisim-fill"
	fillBytes = 4 << 20
	// fillings is the number of times that a volume is filled. Other programs may write to its file
	// system at the same time, so one time is not enough.
	fillings = 3
)

func doFill(c Call, f *fault.Fault) error {
	if err := c.Pass(c.Answer()); err != nil {
		return err
	}
	volume, ok := c.Machine().(machine.VolumeFiles)
	if !ok || c.InProcess() {
		return nil
	}
	request := c.Request().(*csi.NodeGetVolumeStatsRequest)
	empty := c.Answer().(*csi.NodeGetVolumeStatsResponse)
	var first contract.Filling
	for i := range fillings {
		written := volume.WriteVolumeFile(request.GetVolumePath(), fillName, incompressible(fillBytes), 0o600)
		full := measure(c, f)
		_ = c.Machine().Remove(path.Join(request.GetVolumePath(), fillName))
		again := measure(c, f)
		if written != nil || full == nil || again == nil {
			return nil // a full or a read-only volume, or a driver that fails
		}
		filling := contract.Filling{Bytes: fillBytes, Empty: empty, Full: full, Again: again}
		if !filling.Swapped() {
			c.Note(c.Seen(nil, "used grows and available shrinks when a file is written to the volume"))
			return nil
		}
		if i == 0 {
			first = filling
		}
		empty = again
	}
	c.Note(contract.SwapsUsage(c.Method(), first))
	return nil
}

// measure repeats the call; it returns nil if the call fails.
func measure(c Call, f *fault.Fault) *csi.NodeGetVolumeStatsResponse {
	again := c.Again(f, proto.Clone(c.Request()))
	if again.Make() != nil {
		return nil
	}
	return again.Answer().(*csi.NodeGetVolumeStatsResponse)
}

// incompressible returns a number of bytes that no file system can compress; they are always the
// same ones.
func incompressible(n int) []byte {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		panic(err) // the key has the right length
	}
	data := make([]byte, n)
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(data, data)
	return data
}
