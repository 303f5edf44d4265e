# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - a table, a handler in each line
"""Every handler that does work is made to fail by a test, or says here why not."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.system.handlers import working_handlers

TESTS = Path(__file__).parents[1]
ASK, LEDGER, STREAM = "ask/test_handlers.py", "ledger/test_handlers.py", "stream/protocol/test_handlers.py"

# Folders that a question does not go through, and why a handler that fails there tells nothing.
ELSEWHERE = {
    "ask/remote.py": "on an analyst's machine, where no rows are",
    "audit/": "attacks tables of its own making: its failure is the audit's failure",
    "finding/": "puts questions together: what it handles was raised by asking, and holds no row",
    "cli/": "before or after a question: it prints what is public, or ends the program",
    "server/": "a worker says of whatever failed that it failed, and a web process has no rows: server/test_worker.py, server/test_limits.py",
    "stream/programs/": "around the protocol: what it carries was charged, journalled and sealed before",
}
# Handler → the test that makes it fail. Without `::` it is a reason why there is none.
PURE = "makes a value of texts that are not from rows; what fails in it is raised as it is"
HANDLERS = {
    "ask/curator.py:Curator._complete:except KeyboardInterrupt": PURE,
    "ask/secret.py:SecretFile.read:except OSError": f"{ASK}::test_a_secret_that_cannot_be_opened_nor_looked_at_is_a_refusal",
    "ask/secret.py:SecretFile.read:finally": f"{ASK}::test_a_secret_that_was_read_is_used_though_its_file_does_not_close",
    "ask/secret.py:SecretFile.begin:finally": f"{ASK}::test_a_secret_that_is_neither_written_nor_removed_is_a_refusal_and_costs_nothing",
    "ask/store.py:Store.open:except OSError": f"{ASK}::test_a_stored_answer_that_can_neither_be_read_nor_closed_says_that_it_is_free_to_ask_again",
    "core/compiling.py:heard_by:finally": "of whoever watches: it shows what is compiled, and holds no row",
    "core/kept_code.py:KeptCode._write:except OSError": "core/test_kept_code.py::test_a_disk_that_is_full_costs_no_answer_and_leaves_no_part_of_a_file",
    "core/files.py:PartialFile.__init__:except BaseException": f"{ASK}::test_a_partial_file_that_can_neither_be_locked_nor_removed_costs_no_answer",
    "core/files.py:sync_folder:finally": f"{ASK}::test_a_folder_that_is_not_synced_keeps_no_answer_nobody_was_given",
    "core/files.py:PartialFile.__exit__": f"{ASK}::test_a_partial_file_that_cannot_be_removed_hides_nothing",
    "core/files.py:sweep_partial:finally": f"{ASK}::test_a_sweep_that_fails_at_every_step_lets_the_account_open",
    "core/files.py:sweep_partial:finally#2": f"{ASK}::test_a_sweep_that_fails_at_every_step_lets_the_account_open",
    "core/progress.py:listening:finally": "of whoever watches: it shows how far the work is, and holds no row",
    "core/threads.py:in_threads:finally": f"{ASK}::test_threads_that_fail_and_do_not_end_quote_no_row",
    "engine/places/databases.py:DatabaseAddress.open:except ImportError": PURE,
    "engine/places/databases.py:DatabaseAddress.open:except Exception": PURE,
    "engine/spark_opening.py:open_frame:finally": "engine/test_spark.py::test_views_that_cannot_be_dropped_quote_no_row",
    "engine/spark_session.py:OwnSession._statement:finally": "engine/test_spark.py::test_views_that_cannot_be_dropped_quote_no_row",
    "engine/spark_session.py:without_words:finally": "engine/test_spark.py::test_what_fails_says_its_class_and_nothing_is_printed",
    "engine/statements.py:collect:except EngineFailure": "engine/test_view_text.py::test_files_that_cannot_be_read_otherwise_quote_no_row",
    "engine/unchecked_text.py:check:except duckdb.InvalidInputException": "engine/test_view_text.py::test_files_that_cannot_be_read_otherwise_quote_no_row",
    "engine/statements.py:_run:except (Exception, KeyboardInterrupt)": f"{ASK}::test_a_statement_that_fails_and_cannot_be_described_quotes_no_row",
    "engine/statements.py:collect_batches:except (Exception, KeyboardInterrupt)": f"{ASK}::test_a_statement_that_fails_and_cannot_be_described_quotes_no_row",
    "engine/turns.py:Turns._noted:finally": "engine/test_turns.py::test_a_statement_that_failed_ends_its_turn",
    "engine/watching.py:watching:finally": "of whoever watches: it shows how far the work is, and holds no row",
    "engine/watching.py:watched:finally": "engine/test_watching.py::test_a_watched_statement_that_fails_quotes_no_row_and_ends_its_watch",
    "engine/watching.py:_counted:finally": "engine/test_watching.py::test_settings_that_cannot_be_put_back_hide_no_answer",
    "engine/zones.py:check_zone:except (KeyError, ValueError, OSError)": "of a declaration as it is read, before there is a table",
    "inspect/written_alike.py:read_with_remarks:except (SchemaError, InputError)": PURE,
    "ledger/anchor.py:Anchor._locked:finally": f"{LEDGER}::test_an_anchor_whose_lock_does_not_close_is_written",
    "ledger/anchor.py:_let_go:finally": f"{LEDGER}::test_an_anchor_whose_lock_is_not_let_go_is_written_and_closes",
    "ledger/ledger.py:Ledger.__exit__": f"{LEDGER}::test_a_refusal_inside_a_block_is_not_hidden_by_its_end",
    "ledger/ledger.py:Ledger.verify:except LedgerDamaged": PURE,
    "ledger/opening.py:connect:except BaseException": f"{LEDGER}::test_a_damaged_ledger_is_said_to_be_so_though_it_does_not_close",
    "ledger/opening.py:connect_to_read:except BaseException": f"{LEDGER}::test_a_ledger_behind_its_anchor_is_said_to_be_so_though_it_does_not_close",
    "ledger/postgres.py:PostgresBackend.install:finally": f"{LEDGER}::test_a_missing_ledger_in_a_database_is_said_to_be_so_though_nothing_closes",
    "ledger/recount_terms.py:read_terms:except InputError": PURE,
    "ledger/session.py:Session.close:finally": f"{LEDGER}::test_what_is_held_beside_a_connection_is_let_go_though_the_connection_does_not_close",
    "ledger/session.py:Session.drop:finally": f"{LEDGER}::test_a_garbage_ledger_that_does_not_close_leaves_its_gate_open",
    "ledger/session.py:Session._until_done:except DBAPIError": f"{LEDGER}::test_a_transaction_that_cannot_be_rolled_back_leaves_nothing_of_it",
    "ledger/sqlite.py:SqliteBackend._create:finally": f"{LEDGER}::test_a_ledger_that_can_neither_be_made_nor_cleared_away_says_that_it_cannot_be_made",
    "ledger/verify.py:check:except (ValueError, TypeError, KeyError, AttributeError)": PURE,
    "questions/explain/binding.py:_detector:except (TypeError, ValueError)": PURE,
    "questions/explain/everyone/binding.py:_margin:except (TypeError, ValueError)": PURE,
    "questions/identify/summary.py:count_neighbours:except EngineFailure": f"{ASK}::test_counting_in_another_way_that_fails_too_quotes_no_row",
    "stream/counting/opened_anchor.py:OpenedAnchor.__init__:except LedgerError": "stream/counting/test_opened_anchor.py::test_an_anchor_that_is_refused_says_why_though_its_lock_does_not_close",
    "stream/counting/opened_anchor.py:OpenedAnchor._hold:except OSError": "stream/counting/test_opened_anchor.py::test_an_anchor_that_is_refused_says_why_though_its_lock_does_not_close",
    "stream/protocol/journal_file.py:JournalFile.__init__:except (sqlite3.Error, OSError, LedgerError)": f"{STREAM}::test_a_journal_that_can_neither_be_used_nor_closed_says_that_it_cannot_be_used",
    "stream/protocol/journal_file.py:JournalFile.__exit__": f"{STREAM}::test_what_went_wrong_inside_a_block_is_not_hidden_by_its_end",
    "stream/protocol/journal_file.py:JournalFile.transaction:except BaseException": f"{STREAM}::test_readings_that_the_journal_does_not_take_are_forfeited_and_the_next_are_sent",
    "stream/protocol/journal_file.py:JournalFile.reserve_room:except OSError": f"{STREAM}::test_a_full_disk_is_found_before_the_charge",
    "stream/protocol/journal_file.py:JournalFile.reserve_room:finally": f"{STREAM}::test_a_full_disk_is_found_before_the_charge",
    "stream/protocol/journal_file.py:_allocate:except AttributeError": f"{STREAM}::test_room_is_taken_where_a_disk_knows_no_allocation",
    "stream/protocol/journal_file.py:_allocate:except OSError": f"{STREAM}::test_room_is_taken_where_a_disk_knows_no_allocation",
    "stream/protocol/local.py:LocalTransport.carry:except NotYet": "stream/protocol/test_notices.py::test_more_windows_in_one_send_than_a_server_keeps_arrive",
    "stream/protocol/paying_sensor.py:PayingSensor._send:finally": "stream/protocol/test_parties.py::test_a_crash_between_charge_and_journal_forfeits_the_charge",
    "stream/protocol/parties.py:Party.__exit__": f"{STREAM}::test_what_went_wrong_inside_a_block_is_not_hidden_by_its_end",
    "stream/protocol/paying_sensor.py:PayingSensor.__init__:except BaseException": f"{STREAM}::test_a_sensor_that_cannot_open_its_account_says_so_though_nothing_closes",
    "stream/protocol/paying_sensor.py:PayingSensor.close:finally": f"{STREAM}::test_a_sensor_that_cannot_open_its_account_says_so_though_nothing_closes",
    "stream/protocol/paying_sensor.py:PayingSensor._reserve:finally": "stream/protocol/test_sharing.py::test_no_two_sends_share_a_charge_though_the_first_failed_after_it",
}  # fmt: skip


def test_every_working_handler_is_made_to_fail_or_says_why_not() -> None:
    found = [handler for handler in working_handlers() if not handler.startswith(tuple(ELSEWHERE))]
    missing = sorted(set(found) - set(HANDLERS))
    assert not missing, "make these fail in a test, or write a reason: " + ", ".join(missing)
    assert sorted(found) == sorted(HANDLERS), "a handler that is named here does no work any more"


def test_the_tests_that_are_named_exist() -> None:
    for handler, told in HANDLERS.items():
        path, separator, name = told.partition("::")
        if separator:
            tree = ast.parse((TESTS / path).read_text("utf-8"))
            assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, handler


def test_few_handlers_on_the_way_of_a_question_are_excused() -> None:
    excused = {handler for handler, told in HANDLERS.items() if "::" not in told and told != PURE}
    assert excused == {
        "core/compiling.py:heard_by:finally",
        "core/progress.py:listening:finally",
        "engine/watching.py:watching:finally",
        "engine/zones.py:check_zone:except (KeyError, ValueError, OSError)",
    }


def test_what_counts_as_work() -> None:
    from tests.system.handlers import _in_tree

    source = """
def charge():
    try: work()
    except A: raise Error(f(x)) from None
    except B as b: return Failed(type(b).__name__)
    except C: return None
    except D: undo()
    except E: self.state = "failed"
    finally: close()
"""
    assert list(_in_tree(ast.parse(source), "file")) == [
        "file:charge:except D",
        "file:charge:except E",
        "file:charge:finally",
    ]
