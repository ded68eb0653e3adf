package nodeinit

// denied has the calls of 64 and of 32 bits, in this order: bpf, perf_event_open, swapon, swapoff,
// acct, kexec_load, kexec_file_load (not for 32 bits); add_key, request_key, keyctl.
var denied = []calls{
	{arch: 0xc000003e, machine: []uint32{321, 298, 167, 168, 163, 246, 320}, keys: []uint32{248, 249, 250}},
	{arch: 0x40000003, machine: []uint32{357, 336, 87, 115, 51, 283}, keys: []uint32{286, 287, 288}},
}
