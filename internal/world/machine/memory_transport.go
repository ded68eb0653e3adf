package machine

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// memoryTransport carries a call's method name to the server, and the header and
// trailer that the server sets back to the client.
type memoryTransport struct {
	method  string
	header  metadata.MD
	trailer metadata.MD
}

func (t *memoryTransport) Method() string { return t.method }

func (t *memoryTransport) SetHeader(md metadata.MD) error {
	t.header = metadata.Join(t.header, md)
	return nil
}

func (t *memoryTransport) SendHeader(md metadata.MD) error { return t.SetHeader(md) }

func (t *memoryTransport) SetTrailer(md metadata.MD) error {
	t.trailer = metadata.Join(t.trailer, md)
	return nil
}

// report passes header and trailer to the call options that request them.
func (t *memoryTransport) report(opts []grpc.CallOption) {
	for _, opt := range opts {
		switch o := opt.(type) {
		case grpc.HeaderCallOption:
			*o.HeaderAddr = t.header
		case grpc.TrailerCallOption:
			*o.TrailerAddr = t.trailer
		}
	}
}
