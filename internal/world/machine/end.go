package machine

import (
	"io"
	"os"
)

// ReadEnd returns the last bytes of a file of the host, at most that many.
func ReadEnd(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-most)
	return io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
}

// ReadEnd returns the last bytes of a file, at most that many.
func (d *Disk) ReadEnd(p string, most int64) (data []byte, err error) {
	err = d.look(func() error {
		data, err = ReadEnd(d.within(p), most)
		return err
	})
	return data, err
}

// ReadEnd returns the last bytes of a file, at most that many.
func (m *Memory) ReadEnd(p string, most int64) ([]byte, error) {
	data, err := m.ReadFile(p)
	return data[max(0, int64(len(data))-most):], err
}
