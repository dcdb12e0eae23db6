import { it } from 'vitest';
import { stripeDaySettings } from '../support/property-settings.ts';
import { expectCleanDay } from '../support/stripe-day-verdict.ts';
import { liveStripeDay } from '../support/stripe-day.ts';

it('a day of chaos at the provider ends with a clean audit and a clean reconciliation', async () => {
  expectCleanDay(await liveStripeDay({ ...stripeDaySettings(2_000), openingHours: 15 }));
});
