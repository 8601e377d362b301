"""Opcodes without a handler: what upstream's code reads, writes and where it jumps.

With these declarations liveness knows every opcode: a register that no later opcode reads isn't
written back before one that runs in C, and loops around such opcodes are as tight as others.
"""
from sqpyte.vm.opcodes.table import declare_in_c

# Transactions, the file, the schema.
declare_in_c('Savepoint', "Open, release or roll back the savepoint P4, as P1 says.", kind='ends-step')
declare_in_c('AutoCommit', "Set autocommit to P1; if P2, roll back.", kind='ends-step')
declare_in_c('Transaction',
             "Begin a transaction on database P1, to write if P2; check the schema's cookie "
             "P3.", kind='ends-step')
declare_in_c('TableLock',
             "Lock the table with root page P2 of database P1 in a shared cache.",
             moves='')
declare_in_c('Checkpoint',
             "Checkpoint the log of database P1; r[P3..P3+2] = busy, pages in the log, pages "
             "done.",
             writes='P3+2')
declare_in_c('JournalMode',
             "Change the journal mode of database P1 to P3; r[P2] = the mode it has.",
             writes='P2')
declare_in_c('Vacuum', "Vacuum database P1, into the file named by r[P2] if P2.", reads='P2')
declare_in_c('IncrVacuum',
             "Give one free page of database P1 back; jump to P2 if there is none.",
             jumps='P2')
declare_in_c('ReadCookie', "r[P2] = the number P3 of database P1's header.", writes='P2')
declare_in_c('SetCookie', "Set the number P2 of database P1's header to P3.")
declare_in_c('Pagecount', "r[P2] = pages of database P1.", writes='P2', moves='')
declare_in_c('MaxPgcnt',
             "Set the most pages of database P1 to P3; r[P2] = what it is then.",
             writes='P2', moves='')
declare_in_c('CreateBtree', "r[P2] = root page of a new B-tree in database P1.", writes='P2')
declare_in_c('Destroy',
             "Delete the B-tree with root page P1; r[P2] = the root page that was moved there, "
             "or 0.",
             writes='P2')
declare_in_c('Clear',
             "Delete all rows of the B-tree with root page P1; r[P3] += their number if P3 > "
             "0.",
             reads='P3', writes='P3')      # adds the rows cleared
declare_in_c('SqlExec', "Run the SQL text P4.")
declare_in_c('ParseSchema',
             "Read the rows of the schema table that the condition P4 names into the schema.")
declare_in_c('LoadAnalysis', "Read the planner's statistics of database P1.")
declare_in_c('DropTable', "Forget the table P4 of database P1.")
declare_in_c('DropIndex', "Forget the index P4 of database P1.")
declare_in_c('DropTrigger', "Forget the trigger P4 of database P1.")
declare_in_c('IntegrityCk',
             "Check the B-trees P4; r[P1] counts down the errors to report, r[P1+1] = their "
             "text, r[P3@P2] = rows of each.",
             reads='P1 P3@P2', writes='P1 P1+1 P3@P2')
declare_in_c('Expire', "Have all statements, or this one, prepared anew.")
declare_in_c('CursorLock', "Keep others from moving or closing cursor P1's B-tree.")
declare_in_c('CursorUnlock', "Undo CursorLock.")
declare_in_c('Trace', "Give P4 to the trace hook.")
declare_in_c('CursorHint', "Tell the storage which rows of cursor P1 are wanted.", moves='', kind='registers')
declare_in_c('Abortable',
             "Nothing: debugging builds check that nothing has been written.",
             moves='', kind='registers')

# Cursors: opening and closing.
declare_in_c('OpenRead',
             "Open cursor P1 to read the B-tree with root page P2 (r[P2] if P5 says so) of "
             "database P3.",
             reads='P2REG', moves='P1', kind='cursor opens-to-read opens-btree row-cache')
declare_in_c('OpenWrite',
             "Open cursor P1 to write the B-tree with root page P2 (r[P2] if P5 says so) of "
             "database P3.",
             reads='P2REG', moves='P1', kind='cursor opens-btree')
declare_in_c('ReopenIdx',
             "OpenRead, unless cursor P1 is open on that index already.",
             reads='P2REG', moves='P1', kind='cursor opens-btree')
declare_in_c('OpenPseudo', "Open cursor P1 on the one row whose record is in r[P2].", moves='P1',
             kind='own cursor opens-record')
declare_in_c('OpenDup', "Open cursor P1 on the ephemeral table of cursor P2.", moves='P1',
             kind='own cursor opens-ephemeral')
declare_in_c('OpenAutoindex',
             "Open cursor P1 on a new ephemeral index.",
             reads='P3', writes='P3', moves='P1',
             kind='own cursor opens-ephemeral')      # r[P3] becomes an empty record
declare_in_c('OpenEphemeral',
             "Open cursor P1 on a new ephemeral table, or index of the KeyInfo P4; r[P3] "
             "becomes an empty record.",
             reads='P3', writes='P3', moves='P1', kind='own cursor opens-ephemeral distinct')

# Opening a cursor again, and closing one, frees what other cursors on it read: the pseudo-cursor of a sorter.
declare_in_c('SorterOpen', "Open cursor P1 on a new sorter by the KeyInfo P4.", kind='own cursor opens-sorter')
declare_in_c('Close', "Close cursor P1.", kind='own cursor row-cache')

declare_in_c('ColumnsUsed', "Tell the storage which columns cursor P1 is read for.", moves='', kind='registers')
declare_in_c('ResetSorter', "Delete all rows of the ephemeral table or sorter P1.",
             moves='WRITTEN', kind='own')

# Cursors: moving and reading.
declare_in_c('IfSizeBetween',
             "Jump to P2 if the logarithm of cursor P1's estimated size is between P3 and P4.",
             jumps='P2', moves='P1', kind='read')
# Its key, and where it may jump beside P2, are those of the SeekGE after it.
declare_in_c('SeekScan',
             "Try to reach the row that the SeekGE behind it seeks by at most P1 steps; jump "
             "to P2 if it is reached, to the SeekGE's P2 if there is none.",
             reads='NEXT_KEY', jumps='P2 NEXT')
declare_in_c('SeekHit',
             "Bring cursor P1's count of matching key columns into the range P2 to P3.",
             moves='', touches='P1', kind='read')
declare_in_c('IfNoHope',
             "Jump to P2 if no row of index P1 can begin with r[P3@P4], given how many columns "
             "have matched.",
             reads='P3 P3@P4', jumps='P2', moves='P1', kind='read')
declare_in_c('SeekEnd', "Cursor P1 to the end of its B-tree, to append.", moves='P1')
declare_in_c('IFindKey',
             "Look for the key r[P3..] in index P1 where Found has failed, comparing texts as "
             "an index with errors may hold them; jump to P2 if it isn't there.",
             reads='P3 P3..', jumps='P2', moves='P1')   # the index P4 says how many
declare_in_c('SorterCompare',
             "Jump to P2 if the first P4 columns of the sorter P1's record and of the record "
             "r[P3] differ.",
             reads='P3', jumps='P2', moves='', kind='own')
declare_in_c('Offset',
             "r[P3] = where the row of cursor P1 lies in the file.",
             writes='P3', moves='P1', kind='read again')
declare_in_c('Count', "r[P2] = the number of rows under cursor P1.", writes='P2', moves='P1', kind='read')
declare_in_c('RowData', "r[P2] = the record of the row under cursor P1.", writes='P2', moves='', kind='read again')
declare_in_c('SequenceTest',
             "Jump to P2 the first time; counts cursor P1's sequence up.",
             jumps='P2', moves='', touches='P1', kind='own')

# Cursors: writing. Insert reads the record r[P2] and the rowid r[P3]; of a Delete that is half an
# UPDATE the preupdate hook may ask for the new row, whose rowid is r[P3].
declare_in_c('NewRowid',
             "r[P2] = a new rowid for the table of cursor P1, above r[P3] if P3, which becomes "
             "it.",
             reads='P3', writes='P2 P3', moves='WRITTEN', kind='own cursor store sink')
declare_in_c('Insert',
             "Insert the record r[P2] with rowid r[P3] into the table of cursor P1.",
             reads='P2 P3', moves='WRITTEN', kind='own cursor store sink')
declare_in_c('RowCell',
             "Copy the row under cursor P2 for the Insert of rowid r[P3] by cursor P1.",
             reads='P3', moves='WRITTEN')
declare_in_c('Delete',
             "Delete the row under cursor P1; in an UPDATE r[P3] is the new rowid, with the "
             "new row behind it.",
             reads='P3..', moves='WRITTEN', kind='own cursor store sink shows-mark')
declare_in_c('ResetCount', "Add the changes so far to the connection's count.", moves='')
declare_in_c('IdxInsert',
             "Insert the record r[P2] into the index of cursor P1; its columns are r[P3@P4].",
             reads='P2 P3@P4', moves='WRITTEN', kind='own cursor store sink distinct')
declare_in_c('IdxDelete',
             "Delete the entry with the key r[P2@P5] from the index of cursor P1; if P3, only "
             "if it is the record r[P3], else r[P3] = NULL.",
             reads='P2@P5 P3', writes='P3', moves='WRITTEN', kind='own store sink')
declare_in_c('TypeCheck',
             "Apply the affinities of the STRICT table P4 to r[P1@P2] and fail if a type is "
             "wrong.",
             reads='P1@P2', writes='P1@P2', moves='')
declare_in_c('FkCheck', "Fail if foreign keys are violated.", moves='')
declare_in_c('FkCounter',
             "Add P2 to the count of violated foreign keys, of the connection if P1.",
             moves='')
declare_in_c('FkIfZero',
             "Jump to P2 if no foreign key is violated, of the connection if P1.",
             jumps='P2', moves='')

# Trigger programs. They take the values of the row by their distance from P1, which is negative or
# zero if the row's first registers would be those before the first; r[P3] holds their frame.
declare_in_c('Program',
             "Run the trigger program P4, which takes its row from r[P1] on and keeps its "
             "state in r[P3]; jump to P2 if it says IGNORE.",
             reads='FROM_P1 P3', writes='P3', jumps='P2', kind='ends-step shows-mark')

# Virtual tables. VFilter's arguments, as many as the integer in r[P3+1] says, begin at r[P3+2].
declare_in_c('VBegin', "Begin a transaction of the virtual table P4.")
declare_in_c('VCreate', "Create the virtual table named r[P2] in database P1.", reads='P2')
declare_in_c('VDestroy', "Destroy the virtual table P4 of database P1.")
declare_in_c('VOpen', "Open cursor P1 on the virtual table P4.", kind='opens-virtual')
declare_in_c('VCheck', "Check the virtual table P4; r[P2] = the error's text or NULL.", writes='P2')
declare_in_c('VInitIn',
             "r[P2] = the rows under cursor P1 as the argument of a virtual table's IN; they "
             "pass through r[P3].",
             reads='P3', writes='P2 P3', kind='shows-mark')
declare_in_c('VFilter',
             "Start cursor P1's scan with plan number r[P3] and the r[P3+1] arguments behind "
             "it; jump to P2 if there is no row.",
             reads='P3..', jumps='P2', converts='P3..', kind='shows-mark')
declare_in_c('VColumn',
             "r[P3] = column P2 of the row under the virtual table's cursor P1.",
             writes='P3')
declare_in_c('VNext',
             "Virtual table's cursor P1 to its next row; jump to P2 if there is one.",
             jumps='P2', kind='step-virtual')
declare_in_c('VRename', "Rename the virtual table P4 to r[P1].", reads='P1')
declare_in_c('VUpdate',
             "Delete, insert or update a row of the virtual table P4, with the arguments "
             "r[P3@P2].",
             reads='P3@P2', converts='P3@P2', kind='shows-mark')

# Values.
declare_in_c('String8',
             "r[P2] = the text P4; its first run makes it a String, as which it is decoded.",
             writes='P2', moves='', kind='registers again')        # decoded as String
declare_in_c('AggStep1',
             "An AggStep (P1 is 0) or AggInverse whose first run in C has made it this; "
             "decoded as that.",
             reads='P2@P5 P3', writes='P3', converts='P2@P5',
             kind='call aggregate-step emitted')     # decoded as AggStep or AggInverse
declare_in_c('Permutation',
             "The Compare behind it takes its columns in the order of the integers P4.",
             moves='', kind='registers')
