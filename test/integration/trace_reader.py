"""A second reader of traces, written from the format's description alone
(include/memprof/trace_format.h, control.h) and sharing nothing with memprof:
slow, without names or time order, to hold the real reader and the library
against. decode(PATH) gives lanes with their records in order.
"""
import os
import struct

UNIT = 65536
PIECE = struct.Struct("<IHHIIQQQQQQ")
PIECE_MAGIC, SLOT_MAGIC = 0x6350504d, 0x6c53504d
HEADER, EVENTS, OUTSIDE = 1, 2, 3
EXTENDED, ALLOCATE, FREE, REALLOCATE = range(4)
SAME, CACHED, DELTA, NONE = range(4)
KINDS = {name: i + 1 for i, name in enumerate(
    "META MODULE MODULE_GONE PC THREAD_BEGIN THREAD_NAME UNUSED_7 MARK READING RATE LOST RESTART MAP SCOPE_BEGIN "
    "SCOPE_END FREE_STACK END UNUSED_18 CLOCK STACK_CHECK USABLE SMAPS MODULE_NAMES LANE_TOTALS".split())}
NAMES = {number: name for name, number in KINDS.items()}
M64 = (1 << 64) - 1


class Damage(Exception):
    pass


class Piece:
    def __init__(self, data, offset, where):
        (self.magic, self.kind, self.flags, self.lane, self.tid, word, self.lost, self.ticks, self.mono, self.real,
         self.checksum) = PIECE.unpack_from(data, offset)
        self.length, self.sequence = word & 0xffffffff, word >> 32
        self.where, self.offset = where, offset
        if self.length > UNIT - 64:
            raise Damage("%s: offset %d: %d bytes of records" % (where, offset, self.length))
        self.is_cut = offset + 64 + self.length > len(data)
        self.records = data[offset + 64:offset + 64 + self.length]


def varint(data, at):
    first = data[at]
    if first == 0:
        return int.from_bytes(data[at + 1:at + 9], "little"), at + 9
    count = (first & -first).bit_length()
    return int.from_bytes(data[at:at + count], "little") >> count, at + count


def unzigzag(code):
    return (code >> 1) ^ -(code & 1)


def rotate(address):
    return (address >> 4) | ((address << 60) & M64)


def unrotate(rotated):
    return ((rotated << 4) & M64) | (rotated >> 60)


class Decoder:
    """One lane's state. Takes pieces in order; each starts empty. take(operation, fields) gets every record."""
    def __init__(self, take):
        self.take = take

    def restart(self):
        self.last, self.table = 0, [0] * 256
        self.walked, self.cache = (), [((), 0)] * 256
        self.slot = 0

    def note_address(self, address):
        self.table[((address >> 4) ^ (address >> 12)) & 255] = address
        self.last = address

    def address(self, data, at, is_known):
        if is_known:
            address = self.table[data[at]]
            at += 1
        else:
            code, at = varint(data, at)
            address = unrotate((rotate(self.last) + unzigzag(code)) & M64)
        self.note_address(address)
        return address, at

    def frames(self, data, at, count):
        pushed = []
        for _ in range(count):
            frame, at = varint(data, at)
            if frame == 0:
                frame = -int.from_bytes(data[at:at + 8], "little")
                at += 8
            pushed.append(frame)
        return tuple(pushed), at

    def stack(self, data, at, mode):
        """The frames, outermost first, or None; fills walked stack and cache."""
        if mode == SAME:
            return self.cache[self.slot][0], at
        value = data[at]
        at += 1
        if mode == NONE:
            return None, at
        self.slot = value
        if mode == DELTA:
            popped, at = varint(data, at)
            count, at = varint(data, at)
            if popped > len(self.walked) or count > len(data):
                raise Damage("stack: %d popped of %d, %d pushed" % (popped, len(self.walked), count))
            pushed, at = self.frames(data, at, count)
            self.walked = self.walked[:len(self.walked) - popped] + pushed
            self.cache[self.slot] = (self.walked, 0)
        return self.cache[self.slot][0], at

    def sized_stack(self, data, at, tag):
        mode, size = (tag >> 5) & 3, None
        if not tag & 16:
            size, at = varint(data, at)
        stack, at = self.stack(data, at, mode)
        if mode != NONE:
            if size is None:
                size = self.cache[self.slot][1]
            self.cache[self.slot] = (self.cache[self.slot][0], size)
        elif size is None:
            raise Damage("no size without a stack")
        return size, stack, at

    def extended(self, data, at):
        kind, at = varint(data, at)
        length, at = varint(data, at)
        payload = data[at:at + length]
        if len(payload) != length:
            raise Damage("record of kind %d reaches beyond its piece" % kind)
        name = NAMES.get(kind, kind)
        if name == "RESTART":
            self.restart()
        elif name == "FREE_STACK":
            self.stack(payload, 1, payload[0])
        elif name == "MAP":
            at_stack = 1
            for _ in range(8):
                _, at_stack = varint(payload, at_stack)
            self.stack(payload, at_stack + 1, payload[at_stack])
        self.take(EXTENDED, (name, bytes(payload)))
        return at + length

    def piece(self, piece):
        data, at, end = piece.records, 0, piece.length
        self.restart()
        try:
            while at < end:
                at = self.record(data, at)
        except IndexError:
            raise Damage("%s: offset %d: a record is cut" % (piece.where, piece.offset)) from None
        if at != end:
            raise Damage("%s: offset %d: records end %d bytes beyond" % (piece.where, piece.offset, at - end))

    def record(self, data, at):
        tag = data[at]
        at += 1
        if tag & 4:
            _, at = varint(data, at)
        operation = tag & 3
        if operation == EXTENDED:
            return self.extended(data, at)
        if tag & 128:
            at += 1
        address, at = self.address(data, at, tag & 8)
        if operation == FREE:
            self.take(FREE, (address,))
            return at
        if operation == ALLOCATE:
            size, stack, at = self.sized_stack(data, at, tag)
            self.take(ALLOCATE, (address, size, stack))
            return at
        code, at = varint(data, at)
        new = unrotate((rotate(address) + unzigzag(code)) & M64)
        self.note_address(new)
        size, stack, at = self.sized_stack(data, at, tag)
        self.take(REALLOCATE, (address, new, size, stack))
        return at


def companion_of(path):
    return os.path.join(os.path.dirname(path), "." + os.path.basename(path) + ".live")


def read_pieces(path):
    """All pieces of the trace and slots of its companion."""
    pieces = []
    with open(path, "rb") as file:
        data = file.read()
    for offset in range(0, len(data) - 63, UNIT):
        if struct.unpack_from("<I", data, offset)[0] == PIECE_MAGIC:
            piece = Piece(data, offset, path)
            if not piece.is_cut:  # killed in the middle of the write: its slot has it
                pieces.append(piece)
    live = companion_of(path)
    if os.path.exists(live):
        with open(live, "rb") as file:
            data = file.read()
        for offset in range(4096, len(data) - 63, UNIT):
            if struct.unpack_from("<I", data, offset)[0] == SLOT_MAGIC:
                pieces.append(Piece(data, offset, live))
    return pieces


def lanes_of(pieces):
    """{lane: its pieces in order}: of two with one sequence number the longer one counts, and a slot where both
    are as long: the process may have been killed while it wrote the piece (a checksum would tell)."""
    lanes = {}
    for piece in pieces:
        if piece.kind == OUTSIDE or piece.length == 0:
            continue
        same = lanes.setdefault(piece.lane, {})
        known = same.get(piece.sequence)
        if known is None or piece.length >= known.length:
            same[piece.sequence] = piece
    return {lane: [same[sequence] for sequence in sorted(same)] for lane, same in lanes.items()}


def decode(path, take):
    """Calls take(tid, operation, fields) for every record of every lane; returns the events lost:
    each lane counts its own, and LOST records say them again by cause, with those that had no lane."""
    lost, told = 0, 0
    for _, pieces in sorted(lanes_of(read_pieces(path)).items()):
        owner = [pieces[0].tid]

        def take_one(operation, fields):
            nonlocal told
            if operation == EXTENDED and fields[0] == "THREAD_BEGIN":
                owner[0] = varint(fields[1], 0)[0]
            if operation == EXTENDED and fields[0] == "LOST":
                told += varint(fields[1], varint(fields[1], 0)[1])[0]
            take(owner[0], operation, fields)

        decoder = Decoder(take_one)
        for piece in pieces:
            if piece.kind == EVENTS:
                owner[0] = piece.tid
            decoder.piece(piece)
        lost += max(piece.lost for piece in pieces)
    return max(lost, told)
