"""Opcodes without a handler: what upstream's code reads, writes and where it jumps.

With these declarations liveness knows every opcode: a register that no later opcode reads isn't
written back before one that runs in C, and loops around such opcodes are as tight as others.
"""
from sqpyte.optable import declare_in_c

# Transactions, the file, the schema.
declare_in_c('Savepoint')
declare_in_c('AutoCommit')
declare_in_c('Transaction')
declare_in_c('TableLock', moves='')
declare_in_c('Checkpoint', writes='P3+2')
declare_in_c('JournalMode', writes='P2')
declare_in_c('Vacuum', reads='P2')
declare_in_c('IncrVacuum', jumps='P2')
declare_in_c('ReadCookie', writes='P2')
declare_in_c('SetCookie')
declare_in_c('Pagecount', writes='P2', moves='')
declare_in_c('MaxPgcnt', writes='P2', moves='')
declare_in_c('CreateBtree', writes='P2')
declare_in_c('Destroy', writes='P2')
declare_in_c('Clear', reads='P3', writes='P3')      # adds the rows cleared
declare_in_c('SqlExec')
declare_in_c('ParseSchema')
declare_in_c('LoadAnalysis')
declare_in_c('DropTable')
declare_in_c('DropIndex')
declare_in_c('DropTrigger')
declare_in_c('IntegrityCk', reads='P1 P3@P2', writes='P1 P1+1 P3@P2')
declare_in_c('Expire')
declare_in_c('CursorLock')
declare_in_c('CursorUnlock')
declare_in_c('Trace', moves='')
declare_in_c('CursorHint', moves='')
declare_in_c('Abortable', moves='')

# Cursors: opening and closing.
declare_in_c('OpenRead', reads='P2REG', moves='P1')
declare_in_c('OpenWrite', reads='P2REG', moves='P1')
declare_in_c('ReopenIdx', reads='P2REG', moves='P1')
declare_in_c('OpenPseudo', moves='P1')
declare_in_c('OpenDup', moves='P1')
declare_in_c('OpenAutoindex', reads='P3', writes='P3', moves='P1')      # r[P3] becomes an empty record
declare_in_c('OpenEphemeral', reads='P3', writes='P3', moves='P1')
declare_in_c('SorterOpen', moves='P1')
declare_in_c('Close', moves='P1')
declare_in_c('ColumnsUsed', moves='')
declare_in_c('ResetSorter', moves='WRITTEN')

# Cursors: moving and reading.
declare_in_c('IfSizeBetween', jumps='P2', moves='P1')
# Its key is that of the SeekGE after it, whose P2 is the other place where it may jump.
declare_in_c('SeekScan', jumps='P2')
declare_in_c('SeekHit', moves='')
declare_in_c('IfNoHope', reads='P3 P3@P4', jumps='P2', moves='P1')
declare_in_c('SeekEnd', moves='P1')
declare_in_c('IFindKey', reads='P3 P3..', jumps='P2', moves='P1')   # the index P4 says how many
declare_in_c('SorterCompare', reads='P3', jumps='P2', moves='')
declare_in_c('Offset', writes='P3', moves='P1')
declare_in_c('Count', writes='P2', moves='P1')
declare_in_c('RowData', writes='P2', moves='')
declare_in_c('SequenceTest', jumps='P2', moves='')

# Cursors: writing. Insert reads the record r[P2] and the rowid r[P3]; of a Delete that is half an
# UPDATE the preupdate hook may ask for the new row, whose rowid is r[P3].
declare_in_c('NewRowid', reads='P3', writes='P2 P3', moves='WRITTEN')
declare_in_c('Insert', reads='P2 P3', moves='WRITTEN')
declare_in_c('RowCell', reads='P3', moves='WRITTEN')
declare_in_c('Delete', reads='P3..', moves='WRITTEN')
declare_in_c('ResetCount', moves='')
declare_in_c('IdxInsert', reads='P2 P3@P4', moves='WRITTEN')
declare_in_c('IdxDelete', reads='P2@P5 P3', writes='P3', moves='WRITTEN')
declare_in_c('TypeCheck', reads='P1@P2', writes='P1@P2', moves='')
declare_in_c('FkCheck', moves='')
declare_in_c('FkCounter', moves='')
declare_in_c('FkIfZero', jumps='P2', moves='')

# Trigger programs. They take the values of the row from r[P1] on, and r[P3] holds their frame.
declare_in_c('Program', reads='P1.. P3', writes='P3', jumps='P2')
declare_in_c('Param', writes='P2', moves='')

# Virtual tables. VFilter's arguments, as many as the integer in r[P3+1] says, begin at r[P3+2].
declare_in_c('VBegin')
declare_in_c('VCreate', reads='P2')
declare_in_c('VDestroy')
declare_in_c('VOpen')
declare_in_c('VCheck', writes='P2')
declare_in_c('VInitIn', reads='P3', writes='P2 P3')
declare_in_c('VFilter', reads='P3..', jumps='P2')
declare_in_c('VColumn', writes='P3')
declare_in_c('VNext', jumps='P2')
declare_in_c('VRename', reads='P1')
declare_in_c('VUpdate', reads='P3@P2')

# Values.
declare_in_c('String8', writes='P2', moves='')        # decoded as String
declare_in_c('AggStep1', reads='P2@P5 P3', writes='P3')     # decoded as AggStep or AggInverse
declare_in_c('Permutation', moves='')
